//! A request, as the arguments describe it.

use super::curl::{self, CurlError};

/// A request to explain; it is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainRequest {
    /// Host and, perhaps, port.
    pub authority: String,
    /// Path and query.
    pub path: String,
    pub method: String,
    /// Header lines in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

/// The error of an argument that describes no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainRequestError {
    /// No header line.
    #[error("expected a header as `Name: value`, found `{0}`")]
    Header(String),
    #[error("expected a path that starts with `/`, found `{0}`")]
    Path(String),
    /// Not a command that can be read.
    #[error(transparent)]
    Curl(#[from] CurlError),
}

impl ExplainRequestError {
    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Curl(error) => error.hint().map(str::to_owned),
            Self::Header(_) | Self::Path(_) => None,
        }
    }
}

impl ExplainRequest {
    /// A GET of `/` without headers.
    pub fn of_host(authority: impl Into<String>) -> Self {
        let (path, method) = ("/".to_owned(), "GET".to_owned());
        Self { authority: authority.into(), path, method, headers: Vec::new() }
    }

    /// The request that a `curl` command sends, as a browser's developer tools copy it ("Copy as cURL", for a POSIX
    /// shell).
    ///
    /// # Errors
    ///
    /// If the text is no `curl` command with a URL.
    pub fn of_curl(command: &str) -> Result<Self, ExplainRequestError> {
        Ok(curl::read(command)?)
    }

    /// Sets path and query.
    ///
    /// # Errors
    ///
    /// If it does not begin with `/`.
    pub fn set_path(&mut self, path: &str) -> Result<(), ExplainRequestError> {
        if !path.starts_with('/') {
            return Err(ExplainRequestError::Path(path.to_owned()));
        }
        // What comes after `#` never leaves the browser.
        path.split('#').next().unwrap_or_default().clone_into(&mut self.path);
        Ok(())
    }

    /// Adds a header line, `Name: value`.
    ///
    /// # Errors
    ///
    /// If the line has no `:`, or no name before it.
    pub fn add_header_line(&mut self, line: &str) -> Result<(), ExplainRequestError> {
        match line.split_once(':') {
            Some((name, value)) if !name.trim().is_empty() => {
                self.add_header(name, value);
                Ok(())
            }
            _ => Err(ExplainRequestError::Header(line.to_owned())),
        }
    }

    /// Adds a header. `host` replaces the authority, as it does on the wire.
    pub fn add_header(&mut self, name: &str, value: &str) {
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_owned());
        match name.as_str() {
            "host" => self.authority = value,
            _ => self.headers.push((name, value)),
        }
    }

    /// Whether there is a header of this name, given in lower case.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(found, _)| found == name)
    }

    /// The pairs as a proxy hands them to the filter.
    pub fn pairs(&self) -> Vec<(&[u8], &[u8])> {
        let pseudo: [(&[u8], &[u8]); 3] = [
            (b":authority", self.authority.as_bytes()),
            (b":path", self.path.as_bytes()),
            (b":method", self.method.as_bytes()),
        ];
        let headers = self.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        pseudo.into_iter().chain(headers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_the_pairs_that_the_filter_sees() {
        let mut asked = ExplainRequest::of_host("shop.example.com");
        asked.set_path("/cart?a=1#part").unwrap();
        asked.add_header_line("X-Thing:  a: b ").unwrap();
        asked.add_header("Cookie", "a=1; b=2");
        let expected: Vec<(&[u8], &[u8])> = vec![
            (b":authority", b"shop.example.com"),
            (b":path", b"/cart?a=1"),
            (b":method", b"GET"),
            (b"x-thing", b"a: b"),
            (b"cookie", b"a=1; b=2"),
        ];
        assert_eq!(asked.pairs(), expected);
    }

    #[test]
    fn a_host_header_replaces_the_authority() {
        let mut asked = ExplainRequest::of_host("127.0.0.1:8080");
        asked.add_header_line("Host: shop.example.com").unwrap();
        assert_eq!(asked.authority, "shop.example.com");
        assert!(asked.headers.is_empty(), "{asked:?}");
    }

    #[test]
    fn what_is_no_header_and_what_is_no_path_is_refused() {
        let mut asked = ExplainRequest::of_host("h");
        let error = asked.add_header_line("no colon").unwrap_err().to_string();
        assert!(error.contains("found `no colon`"), "{error}");
        asked.add_header_line(": value").unwrap_err();
        asked.set_path("cart").unwrap_err();
    }
}
