//! Errors of a configuration, each with its place.

/// The reason for which a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// Not JSON, or not of this shape. The source names line, column and field.
    #[error("the filter configuration is not valid JSON of this format")]
    Json(#[from] serde_json::Error),
    /// Written by a `canary-ctl` of another major format.
    #[error("expected configuration format {}, found {found}", super::FORMAT)]
    Format {
        /// The format that the configuration names.
        found: u64,
    },
    /// No text at all.
    #[error("the filter configuration is not UTF-8")]
    NotText,
    /// A field that this format does not have (strict reading only).
    #[error("unknown field at `{place}`")]
    UnknownField {
        /// The path of the field, for instance `releases.shop/web.wieght`.
        place: String,
    },
    /// Another release has the same host and path.
    #[error("releases.{release}: `{host}` belongs to `{other}` already")]
    HostTaken {
        /// The release that comes later.
        release: String,
        /// Host and path.
        host: String,
        /// The release that has it.
        other: String,
    },
    /// A field with an invalid value.
    #[error("{place}: {reason}")]
    Invalid {
        /// The path of the field.
        place: String,
        /// The expected value and the found one.
        reason: String,
    },
}

impl ContractError {
    /// An invalid value at a place.
    pub fn invalid(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), reason: reason.into() }
    }

    /// The message with its source, as one line for a log.
    pub fn to_line(&self) -> String {
        match self {
            Self::Json(source) => format!("{self}: line {} column {}", source.line(), source.column()),
            _ => self.to_string(),
        }
    }

    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Format { .. } => Some("use a canary-ctl and a filter of the same major version"),
            Self::UnknownField { .. } => Some("check the spelling, or update canary-ctl"),
            Self::Json(_) | Self::NotText | Self::HostTaken { .. } | Self::Invalid { .. } => None,
        }
    }
}
