//! What the user may not do (authorization), and what nobody may store (admission).
//!
//! # Source
//! Texts: `responsewriters.Forbidden` of k8s.io/apiserver;
//! [Validating Admission Policy](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/)

use super::request::{Request, failure, json};
use canary_release::rbac::Right;
use http::{Method, Response};
use kube::client::Body;
use serde_json::json as value;

/// Rights that are missing, and resources that a policy refuses.
#[derive(Default)]
pub struct Access {
    missing: Vec<(String, String)>,
    /// The only rights that the user has, if they were counted.
    granted: Option<Vec<(String, String)>>,
    refused: Vec<String>,
    /// Resources that the user may list in a namespace alone.
    unlisted: Vec<String>,
}

impl Access {
    /// Takes a right from the user.
    pub fn deny(&mut self, verb: &str, resource: &str) {
        self.missing.push((verb.to_owned(), resource.to_owned()));
    }

    /// Takes every right from the user but these.
    pub fn allow_only<'r>(&mut self, rights: impl IntoIterator<Item = &'r Right>) {
        let pair = |right: &Right| (right.verb.to_owned(), right.resource.clone());
        self.granted = Some(rights.into_iter().map(pair).collect());
    }

    /// Lets the user list a resource in a namespace alone.
    pub fn deny_lists_of_all(&mut self, resource: &str) {
        self.unlisted.push(resource.to_owned());
    }

    /// Lets an admission policy refuse each write of a resource.
    pub fn refuse(&mut self, resource: &str) {
        self.refused.push(resource.to_owned());
    }

    /// The response to a review, and to what the user may not do or a policy refuses.
    pub(super) fn respond(&self, request: &Request) -> Option<Response<Body>> {
        if request.path.ends_with("/selfsubjectreviews") {
            return Some(json(201, &value!({"status": {"userInfo": {"username": "admin"}}})));
        }
        if request.path.ends_with("/selfsubjectaccessreviews") {
            let asked = &request.body["spec"]["resourceAttributes"];
            let text = |field: &str| asked[field].as_str().unwrap_or_default().to_owned();
            let resource = match asked["subresource"].as_str() {
                Some(subresource) => format!("{}/{subresource}", text("resource")),
                None => text("resource"),
            };
            let allowed = self.allows(&text("verb"), &resource);
            return Some(json(201, &value!({"spec": {}, "status": {"allowed": allowed}})));
        }
        let (resource, is_named) = resource(&request.path);
        let verb = verb(&request.method, is_named);
        let is_of_all = verb == "list" && !request.path.contains("/namespaces/");
        if !self.allows(verb, &resource) || (is_of_all && self.unlisted.contains(&resource)) {
            let message =
                format!("{resource} is forbidden: User \"admin\" cannot {verb} resource \"{resource}\"");
            return Some(failure(403, "Forbidden", &message));
        }
        let is_refused = request.method != Method::GET && self.refused.contains(&resource);
        let message =
            format!("{resource} is forbidden: ValidatingAdmissionPolicy 'platform' denied request: ask us");
        is_refused.then(|| failure(403, "Forbidden", &message))
    }

    fn allows(&self, verb: &str, resource: &str) -> bool {
        let is_it = |(of, right): &(String, String)| of == verb && right == resource;
        !self.missing.iter().any(is_it)
            && self.granted.as_ref().is_none_or(|granted| granted.iter().any(is_it))
    }
}

/// The resource of a path, with its subresource, and whether one object is named:
/// `/api/v1/namespaces/<namespace>/<resource>/<name>/<subresource>`, or `/apis/<group>/<version>/namespaces/…`; without
/// `namespaces` the resource of all of them.
fn resource(path: &str) -> (String, bool) {
    if !path.contains("/namespaces/") {
        return (path.rsplit('/').next().unwrap_or_default().to_owned(), false);
    }
    let mut parts = path.split('/').skip_while(|part| *part != "namespaces").skip(2);
    let (resource, name) = (parts.next().unwrap_or_default(), parts.next());
    let subresource = parts.next().map(|subresource| format!("/{subresource}"));
    (format!("{resource}{}", subresource.unwrap_or_default()), name.is_some())
}

fn verb(method: &Method, is_named: bool) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ if is_named => "get",
        _ => "list",
    }
}
