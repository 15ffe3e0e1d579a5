//! Who is told of a rollout, and where the URL of each stands. A webhook's URL is a secret: whoever has it can write there. So it is
//! never printed, and a record has neither the URL nor its source.

use super::SecretSource;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Longer is no URL of a webhook.
const MAX_URL: usize = 2_048;

/// The receivers of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertSpec {
    /// All of them.
    pub receivers: Vec<AlertReceiver>,
    /// The endpoint of each, by its name.
    pub endpoints: BTreeMap<String, ReceiverEndpoint>,
}

/// A receiver of alerts, as the record keeps it. Its URL and format are in the file alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordedReceiver")]
pub struct AlertReceiver {
    /// Its name, once in a release.
    pub name: String,
    /// Alerts that are less severe are not sent to it.
    pub severity: AlertSeverity,
}

/// The same as records have it. Those of earlier versions have format and place of the URL, too, which are dropped.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedReceiver {
    name: String,
    severity: AlertSeverity,
    #[serde(default, rename = "type")]
    _format: IgnoredAny,
    #[serde(default, rename = "urlFrom")]
    _url_from: IgnoredAny,
}

/// The endpoint of a receiver. A driver has it from its own file and never from a record: who may write records must not choose which secrets a
/// driver reads, nor to whom it posts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverEndpoint {
    /// The format that it understands.
    pub format: AlertFormat,
    /// The source of its URL.
    pub url_from: SecretSource,
    /// The URL, if it stands in the file itself.
    pub url: Option<SecretUrl>,
}

/// The payload format of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertFormat {
    /// An incoming webhook of Slack.
    Slack,
    /// A webhook of Discord.
    Discord,
    /// A workflow of Microsoft Teams that posts an Adaptive Card.
    Teams,
    /// JSON.
    Webhook,
    /// `CloudEvents` 1.0 in structured mode.
    CloudEvents,
}

/// The severity of an alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertSeverity {
    /// The rollout goes on.
    #[default]
    Info,
    /// It needs a person.
    Warning,
    /// It has failed.
    Error,
}

/// The URL of a receiver. It is printed nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

/// The text is no URL of a receiver. It is not repeated: it may be one, with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a URL without a user that begins with `https://` or `http://`, found another text")]
pub struct UrlError;

impl From<RecordedReceiver> for AlertReceiver {
    fn from(RecordedReceiver { name, severity, .. }: RecordedReceiver) -> Self {
        Self { name, severity }
    }
}

impl SecretUrl {
    /// The text, for the request alone.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretUrl {
    type Err = UrlError;

    /// Reads it, without the line end that files have.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']));
        let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        let has_user = authority.is_some_and(|authority| authority.contains('@'));
        let is_graphic = text.bytes().all(|byte| byte.is_ascii_graphic());
        let is_valid = has_host && !has_user && is_graphic && text.len() <= MAX_URL;
        if is_valid { Ok(Self(text.to_owned())) } else { Err(UrlError) }
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(redacted)")
    }
}

impl fmt::Display for AlertFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Teams => "teams",
            Self::Webhook => "webhook",
            Self::CloudEvents => "cloudevents",
        })
    }
}

impl fmt::Display for AlertSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_printed_nowhere() {
        let url: SecretUrl = "https://hooks.example/T0/B0/secret\n".parse().unwrap();
        assert_eq!(url.expose(), "https://hooks.example/T0/B0/secret");
        let url_from = SecretSource::Inline;
        let endpoint = ReceiverEndpoint { format: AlertFormat::Slack, url_from, url: Some(url) };
        let endpoints = BTreeMap::from([("team".to_owned(), endpoint)]);
        let spec = AlertSpec { endpoints, ..AlertSpec::default() };
        assert!(!format!("{spec:?}").contains("hooks"), "{spec:?}");
    }

    #[test]
    fn a_text_that_is_no_url_is_refused_and_not_repeated() {
        for text in [
            "",
            "hooks.example/x",
            "ftp://hooks.example/secret",
            "https:///secret",
            "https://a b/secret",
            "https://ada:secret@b/",
        ] {
            let error = text.parse::<SecretUrl>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
        let long = format!("https://hooks.example/{}", "x".repeat(MAX_URL));
        assert_eq!(long.parse::<SecretUrl>(), Err(UrlError));
    }
}
