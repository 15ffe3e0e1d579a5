//! Why a request to the API server failed, in the words of the cause: what libraries put around it is left out.

use super::CredentialError;
use super::obstacle::ProxyError;
use std::error::Error as StdError;
use std::{fmt, io};

/// The longest text of a server in a message, in characters.
const MAX_EXCERPT: usize = 200;

/// A request without a response of the API server.
#[derive(Debug)]
pub struct RequestFailure(Box<kube::Error>);

impl RequestFailure {
    pub(crate) fn new(error: kube::Error) -> Self {
        Self(Box::new(error))
    }

    /// Whether something else than a Kubernetes API has answered.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(&*self.0, kube::Error::SerdeError(_))
    }

    /// The error and what has caused it, the innermost last.
    pub(super) fn causes(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        std::iter::successors(Some(&*self.0 as &(dyn StdError + 'static)), |error| inner(*error))
    }
}

/// The source of an I/O error is that of the error in it, which so would be left out.
fn inner<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

impl StdError for RequestFailure {}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            kube::Error::Api(status) => return write!(f, "{} {}", status.code, excerpt(&status.message)),
            kube::Error::SerdeError(_) => {
                return f.write_str(
                    "expected JSON of a Kubernetes API, found something else: a proxy, or its login page?",
                );
            }
            _ => {}
        }
        let causes: Vec<_> = self.causes().collect();
        let is_ours =
            |error: &&(dyn StdError + 'static)| error.is::<ProxyError>() || error.is::<CredentialError>();
        let first = causes.iter().position(is_ours).unwrap_or(causes.len().saturating_sub(1));
        let mut said = String::new();
        for cause in causes.iter().skip(first) {
            let text = of_cause(*cause);
            // A transparent error has the same text as its source.
            if !said.ends_with(&text) {
                said = if said.is_empty() { text } else { format!("{said}: {text}") };
            }
        }
        f.write_str(&said)
    }
}

fn of_cause(cause: &(dyn StdError + 'static)) -> String {
    if let Some(rustls::Error::InvalidMessage(_)) = cause.downcast_ref() {
        return "expected TLS, found something else: a port for plain HTTP?".to_owned();
    }
    let text = cause.to_string();
    match text.split_once(" (os error ") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}

/// The beginning of a server's text, in one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{} …", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_server_is_one_line_of_at_most_200_characters() {
        assert_eq!(excerpt("no\n  route\r\n"), "no route");
        assert_eq!(excerpt(&"é".repeat(201)), format!("{} …", "é".repeat(200)));
        assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(200));
    }
}
