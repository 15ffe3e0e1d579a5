//! Why a transport returned no metrics, and what that says of the proxy.

use super::Transport;
use crate::Error;
use crate::client::ApiRequest;
use canary_release::metrics::PodName;

/// The longest cause in a message, in characters.
const MAX_CAUSE: usize = 200;

/// The reason for which a transport returned no metrics.
#[derive(Debug)]
pub(super) enum Failure {
    /// The API server does not allow it.
    Forbidden(Box<kube::Error>),
    /// No response in time: dropped packets, or a proxy that is stuck.
    TimedOut,
    /// No connection, or no HTTP response; and why.
    NoResponse(String),
    /// A response that is no page of metrics.
    NoMetrics,
}

impl Failure {
    /// That of a request to the API server.
    pub(super) fn of(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.is_forbidden() => {
                Self::Forbidden(Box::new(kube::Error::Api(status)))
            }
            kube::Error::Api(status) => Self::refused(status.message),
            other => Self::no_response(&other),
        }
    }

    /// No response, because of an error: its innermost cause says most.
    pub(super) fn no_response(error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| error.source());
        Self::refused(causes.last().map(ToString::to_string).unwrap_or_default())
    }

    /// No response, in the words of who refused it: the first line, and not without end.
    pub(super) fn refused(words: impl AsRef<str>) -> Self {
        Self::NoResponse(words.as_ref().lines().next().unwrap_or_default().chars().take(MAX_CAUSE).collect())
    }
}

/// The fault of a proxy by two failures, the preferred transport's first, and whether time alone has told them.
///
/// # Errors
///
/// If neither transport is allowed.
pub(super) fn both(
    preferred: Transport,
    failures: [Failure; 2],
    (namespace, pod): &PodName,
) -> Result<(String, bool), Error> {
    let [by_proxy, by_kubelet] = match (preferred, failures) {
        (Transport::PodsProxy, failures) => failures,
        (Transport::PortForward, [by_kubelet, by_proxy]) => [by_proxy, by_kubelet],
    };
    let timed_out = matches!(by_proxy, Failure::TimedOut) || matches!(by_kubelet, Failure::TimedOut);
    let fault = match (by_proxy, &by_kubelet) {
        (Failure::Forbidden(error), Failure::Forbidden(_)) => {
            let request = ApiRequest { verb: "get", resource: "pods/proxy", group: "", namespace, name: pod };
            return Err(request.error(*error));
        }
        (Failure::NoMetrics, _) | (_, Failure::NoMetrics) => "sends no metrics on port 15090".to_owned(),
        (by_proxy, by_kubelet) => {
            format!(
                "does not answer on port 15090 ({} by pods/proxy, {} by pods/portforward)",
                reason(&by_proxy),
                reason(by_kubelet)
            )
        }
    };
    Ok((fault, timed_out))
}

fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Forbidden(_) => "not allowed".to_owned(),
        Failure::TimedOut => "no response in time".to_owned(),
        Failure::NoMetrics => "no response".to_owned(),
        Failure::NoResponse(cause) => format!("no response: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    fn forbidden() -> Failure {
        let status: Status = serde_json::from_value(serde_json::json!({
            "status": "Failure", "reason": "Forbidden", "code": 403,
            "message": "pods \"a\" is forbidden: User \"ada\" cannot get resource \"pods/proxy\"",
        }))
        .unwrap();
        Failure::of(kube::Error::Api(Box::new(status)))
    }

    fn fault(preferred: Transport, failures: [Failure; 2]) -> (String, bool) {
        both(preferred, failures, &("ingress".to_owned(), "a".to_owned())).unwrap()
    }

    #[test]
    fn a_fault_names_both_transports_whichever_was_first() {
        let expected = "does not answer on port 15090 (no response in time by pods/proxy, not allowed by pods/portforward)";
        assert_eq!(
            fault(Transport::PodsProxy, [Failure::TimedOut, forbidden()]),
            (expected.to_owned(), true)
        );
        assert_eq!(
            fault(Transport::PortForward, [forbidden(), Failure::TimedOut]),
            (expected.to_owned(), true)
        );
    }

    #[test]
    fn a_missing_right_is_an_error_where_the_other_is_missing_too() {
        let pod = ("ingress".to_owned(), "a".to_owned());
        let error = both(Transport::PodsProxy, [forbidden(), forbidden()], &pod).unwrap_err();
        assert_eq!(error.to_string(), "not allowed to get pods/proxy in namespace `ingress`");
        let (_, timed_out) =
            fault(Transport::PodsProxy, [forbidden(), Failure::NoResponse("refused".to_owned())]);
        assert!(!timed_out, "a refusal is immediate, and so is asking again");
    }
}
