//! The options of a `curl` command, and the request that curl would send.

use super::super::explain_request::ExplainRequest;
use super::CurlError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The parts of a command that matter.
#[derive(Default)]
pub(super) struct Command {
    pub(super) urls: Vec<String>,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<String>,
    pub(super) cookies: Vec<String>,
    /// Headers of options, which a header of the same name in `headers` replaces.
    pub(super) defaults: Vec<(&'static str, String)>,
    pub(super) user: Option<String>,
    pub(super) data: Vec<String>,
    pub(super) is_get: bool,
    pub(super) is_head: bool,
}

impl Command {
    pub(super) fn into_asked(mut self) -> Result<ExplainRequest, CurlError> {
        let [url] = self.urls.as_slice() else { return Err(CurlError::Urls(self.urls.len())) };
        if !is_url(url) {
            return Err(CurlError::Url(url.clone()));
        }
        let (authority, mut path) = split_url(url);
        if self.is_get && !self.data.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&self.data.join("&"));
        }
        let has_body = !self.data.is_empty() && !self.is_get;
        let method = match (self.method.take(), self.is_head, has_body) {
            (Some(method), ..) => method,
            (None, true, _) => "HEAD".to_owned(),
            (None, false, true) => "POST".to_owned(),
            (None, false, false) => "GET".to_owned(),
        };
        let mut asked = ExplainRequest { path, method, ..ExplainRequest::of_host(authority) };
        self.write_headers(&mut asked, has_body);
        Ok(asked)
    }

    fn write_headers(&self, asked: &mut ExplainRequest, has_body: bool) {
        let mut removed = Vec::new();
        for line in &self.headers {
            match (line.split_once(':'), line.strip_suffix(';')) {
                // `Name:` takes a header of curl's own away, `Name;` sends an empty one.
                (Some((name, value)), _) if value.trim().is_empty() => {
                    removed.push(name.to_ascii_lowercase());
                }
                (Some((name, value)), _) => asked.add_header(name, value),
                (None, Some(name)) => asked.add_header(name, ""),
                (None, None) => {}
            }
        }
        if !self.cookies.is_empty() {
            asked.add_header("cookie", &self.cookies.join("; "));
        }
        let form = has_body.then(|| ("content-type", "application/x-www-form-urlencoded".to_owned()));
        let user =
            self.user.as_ref().map(|user| ("authorization", format!("Basic {}", STANDARD.encode(user))));
        let curls_own = [("accept", "*/*".to_owned()), ("user-agent", "curl".to_owned())];
        for (name, value) in self.defaults.iter().cloned().chain(user).chain(form).chain(curls_own) {
            if !asked.has_header(name) && !removed.iter().any(|gone| gone == name) {
                asked.add_header(name, &value);
            }
        }
    }
}

/// Whether a word can be a URL: quotation marks that are part of it, for example, belong to another shell.
fn is_url(word: &str) -> bool {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:[]".contains(&byte) || byte >= 0x80;
    let scheme = word.split_once("://").map_or("http", |(scheme, _)| scheme);
    let (authority, _) = split_url(word);
    scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !authority.is_empty()
        && authority.bytes().all(is_host)
}

/// Authority and path of a URL as curl takes it: the scheme may be missing, the path too.
fn split_url(url: &str) -> (String, String) {
    let without_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let without_fragment = without_scheme.split('#').next().unwrap_or_default();
    let end = without_fragment.find(['/', '?']).unwrap_or(without_fragment.len());
    let (authority, path) = without_fragment.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    (host.to_owned(), format!("{slash}{path}"))
}
