//! What an operation concludes from an error: whether to try again, whether something was refused, whether it is about proxies alone.

use super::Error;
use canary_release::rbac::Right;

/// The resources that have to be readable so that proxies can be asked what they run.
const PROXY_RESOURCES: [&str; 3] = ["pods", "pods/proxy", "pods/portforward"];

impl Error {
    /// The identifier of the innermost error, for scripts: the name of a check, or of a kind of error.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Preflight(refusal) => refusal.check.name(),
            Self::Plan(error) => error.into(),
            Self::InTrain { source, .. } => source.id(),
            _ => self.into(),
        }
    }

    /// Whether the same may succeed a moment later: the API server does not answer, another client is writing, or proxies are
    /// late.
    pub fn is_transient(&self) -> bool {
        if let Self::InTrain { source, .. } = self {
            return source.is_transient();
        }
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Unanswered { .. }
                | Self::Unable { .. }
                | Self::Stale { .. }
                | Self::ConcurrentChange { .. }
                | Self::Held { .. }
                | Self::LostLease { .. }
                | Self::Late { .. }
        )
    }

    /// Whether another client has written the record, or an object, since it was read.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::ConcurrentChange { .. } | Self::Deleted { .. })
    }

    /// Whether a check has refused an operation: nothing of it was written, and a person can change what it found. For a release of a train a missing
    /// right is such a check: its operator may have others.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Preflight(_) | Self::Train(_) => true,
            Self::InTrain { source, .. } => source.is_refusal() || matches!(**source, Self::Forbidden { .. }),
            _ => false,
        }
    }

    /// Whether nothing was refused: the proxies do not run what was written, or cannot be asked.
    pub fn is_about_proxies(&self) -> bool {
        match self {
            Self::Late { .. } => true,
            Self::Forbidden { resource, .. } => PROXY_RESOURCES.contains(&resource.as_str()),
            _ => false,
        }
    }

    /// The right without which the proxies cannot be asked what they run, if this is about it.
    ///
    /// # Errors
    ///
    /// The error itself, if it is about something else.
    pub(crate) fn missing_right_about_proxies(self) -> Result<Right, Self> {
        match self {
            Self::Forbidden { verb, resource, group, namespace }
                if PROXY_RESOURCES.contains(&resource.as_str()) =>
            {
                Ok(Right { namespace, group, resource, name: None, verb })
            }
            other => Err(other),
        }
    }
}
