//! Errors of the API server, with the request and what the operator can change.

use crate::Error;
use crate::error::{RequestFailure, excerpt};
use kube::core::Status;
use std::fmt;

/// Istio's kinds of routing: `v1` since 1.22 ([notes](https://istio.io/latest/news/releases/1.22.x/announcing-1.22/)).
const ISTIO_GROUP: &str = "networking.istio.io";

/// A request to the API server, for the message of its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApiRequest<'a> {
    pub(crate) verb: &'static str,
    /// `envoyfilters`, `pods/proxy` …
    pub(crate) resource: &'a str,
    /// Empty for the core.
    pub(crate) group: &'a str,
    pub(crate) namespace: &'a str,
    /// Empty for a list.
    pub(crate) name: &'a str,
}

impl ApiRequest<'_> {
    /// The error of a response, or of its absence.
    pub(crate) fn error(self, error: kube::Error) -> Error {
        match error {
            kube::Error::Api(status) => self.because(&status),
            source => Error::Unanswered {
                verb: self.verb,
                object: self.to_string(),
                source: RequestFailure::new(source),
            },
        }
    }

    fn because(self, status: &Status) -> Error {
        let conflicts = conflicts(status);
        let object = self.to_string();
        if status.is_forbidden() && is_denied_right(&status.message) {
            return Error::Forbidden {
                verb: denied(&status.message).unwrap_or(self.verb),
                resource: self.resource.to_owned(),
                group: self.group.to_owned(),
                namespace: self.namespace.to_owned(),
            };
        }
        if status.code == 401 {
            return Error::Unauthorized { address: String::new() };
        }
        if status.code >= 500 || status.code == 429 {
            let message = excerpt(&status.message);
            return Error::Unable { verb: self.verb, object, code: status.code, message };
        }
        if !conflicts.is_empty() {
            return Error::Conflict { object, conflicts };
        }
        if status.is_conflict() || status.is_already_exists() {
            return Error::Stale { object };
        }
        let is_of_istio = self.group == ISTIO_GROUP && matches!(self.verb, "patch" | "list");
        let message = if status.is_not_found() && is_of_istio {
            format!("it serves no `{}` of {ISTIO_GROUP}/v1: is Istio 1.22 or later installed?", self.resource)
        } else {
            status.message.clone()
        };
        Error::Refused { verb: self.verb, object, code: status.code, message }
    }
}

impl fmt::Display for ApiRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.resource, self.namespace, self.name)
    }
}

/// Whether a 403 is the authorizer's: `… is forbidden: User "bob" cannot create resource …`. Admission policies, quotas and
/// namespaces that terminate are answered with 403 too, and no Role changes that.
///
/// # Source
/// `responsewriters.Forbidden` of k8s.io/apiserver.
fn is_denied_right(message: &str) -> bool {
    message.split_once("User \"").is_some_and(|(_, rest)| rest.contains("\" cannot "))
}

/// The right that is missing where it is another than what was tried: applying an object that is not there creates it.
fn denied(message: &str) -> Option<&'static str> {
    let verb = message.split_once(" cannot ")?.1.split(' ').next()?;
    ["get", "list", "create", "update", "patch", "delete"].into_iter().find(|known| *known == verb)
}

/// Field and owner of every conflict of a server-side apply. The owner stands in the message: `conflict with "helm" using …`.
fn conflicts(status: &Status) -> Vec<(String, String)> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let conflict = |cause: &kube::core::response::StatusCause| {
        let owner = cause.message.split('"').nth(1).unwrap_or("another field manager");
        (cause.field.trim_start_matches('.').to_owned(), owner.to_owned())
    };
    causes.filter(|cause| cause.reason == "FieldManagerConflict").map(conflict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(status: serde_json::Value) -> Error {
        let request = ApiRequest {
            verb: "patch",
            resource: "virtualservices",
            group: "networking.istio.io",
            namespace: "shop",
            name: "a",
        };
        request.because(&serde_json::from_value(status).unwrap())
    }

    #[test]
    fn a_conflict_names_field_and_owner() {
        let error = told(json!({"reason": "Conflict", "code": 409, "details": {"causes": [{
            "reason": "FieldManagerConflict",
            "message": "conflict with \"helm\" using networking.istio.io/v1",
            "field": ".spec.http",
        }]}}));
        assert_eq!(error.to_string(), "cannot write virtualservices shop/a: `spec.http` belongs to `helm`");
    }

    #[test]
    fn a_missing_right_is_named_with_its_group_and_its_namespace() {
        let message = "virtualservices.networking.istio.io \"a\" is forbidden: User \"bob\" cannot patch resource \"virtualservices\"";
        let error = told(json!({"reason": "Forbidden", "code": 403, "message": message}));
        assert_eq!(error.to_string(), "not allowed to patch virtualservices in namespace `shop`");
        let Error::Forbidden { verb, resource, group, namespace } = error else { panic!("{error:?}") };
        assert_eq!(
            (verb, resource.as_str(), group.as_str(), namespace.as_str()),
            ("patch", "virtualservices", "networking.istio.io", "shop")
        );
    }

    /// Texts of Kubernetes 1.36, Gatekeeper 3.19 and Kyverno 1.14.
    #[test]
    fn what_a_policy_a_quota_or_the_end_of_a_namespace_refuses_is_told_in_the_words_of_the_api_server() {
        let refusals = [
            (
                403,
                "virtualservices \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: use routes of the platform",
            ),
            (
                403,
                "admission webhook \"validation.gatekeeper.sh\" denied the request: [no-wasm] use our routes",
            ),
            (400, "admission webhook \"validate.kyverno.svc-fail\" denied the request: policy no-wasm"),
            (
                403,
                "configmaps \"a\" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1",
            ),
            (
                403,
                "configmaps \"a\" is forbidden: unable to create new content in namespace shop because it is being terminated",
            ),
        ];
        for (code, message) in refusals {
            let error = told(json!({"reason": "Forbidden", "code": code, "message": message}));
            let expected = format!("the API server refuses to patch virtualservices shop/a: {message}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn the_right_to_create_is_named_where_an_apply_lacks_it() {
        let message = "virtualservices.networking.istio.io \"a\" is forbidden: User \"bob\" cannot create resource \"virtualservices\"";
        let error = told(json!({"reason": "Forbidden", "code": 403, "message": message}));
        assert_eq!(error.to_string(), "not allowed to create virtualservices in namespace `shop`");
    }

    #[test]
    fn a_cluster_without_the_kinds_of_istio_is_told_which_version_has_them() {
        let error = told(
            json!({"reason": "NotFound", "code": 404, "message": "the server could not find the requested resource"}),
        );
        assert_eq!(
            error.to_string(),
            "the API server refuses to patch virtualservices shop/a: it serves no `virtualservices` of networking.istio.io/v1: is \
             Istio 1.22 or later installed?"
        );
    }

    #[test]
    fn a_lost_race_is_no_conflict_of_owners() {
        let error = told(json!({"reason": "Conflict", "code": 409}));
        assert!(matches!(error, Error::Stale { .. }), "{error:?}");
    }
}
