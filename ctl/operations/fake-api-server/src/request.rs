//! A request as the API server reads it, and the forms of its responses.

use http::{Method, Response};
use kube::client::Body;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    content_type: String,
    accept: String,
    pub(super) body: Value,
}

impl Request {
    pub(super) async fn of(request: http::Request<Body>) -> Self {
        let (head, body) = request.into_parts();
        let body = body.collect_bytes().await.unwrap();
        let query = head.uri.query().unwrap_or_default();
        let header = |name: &str| {
            let value = head.headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        Self {
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            path: head.uri.path().to_owned(),
            content_type: header("content-type"),
            accept: header("accept"),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            method: head.method,
        }
    }

    /// `PATCH /apis/…`.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether it changes something; a review and a dry run do not.
    pub(super) fn is_write(&self) -> bool {
        self.method != Method::GET && !self.path.ends_with("reviews") && !self.is_dry_run()
    }

    /// Whether istiod and Kubernetes' controllers see what it changes: they read no Leases.
    pub(super) fn is_seen_by_controllers(&self) -> bool {
        self.is_write() && !self.path.contains("/leases")
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.query.contains_key("dryRun")
    }

    pub(super) fn is_apply(&self) -> bool {
        self.content_type.contains("apply-patch")
    }

    /// Whether it asks for the metadata of an object alone.
    pub(super) fn is_for_metadata(&self) -> bool {
        self.accept.contains("as=PartialObjectMetadata")
    }

    pub(super) fn field_manager(&self) -> &str {
        self.query.get("fieldManager").map_or("unknown", String::as_str)
    }

    pub(super) fn forces(&self) -> bool {
        self.query.get("force").is_some_and(|force| force == "true")
    }
}

pub(super) fn json(code: u16, body: &impl Serialize) -> Response<Body> {
    let response = Response::builder().status(code).header("content-type", "application/json");
    response.body(Body::from(serde_json::to_vec(body).unwrap())).unwrap()
}

/// A failure as Kubernetes describes it.
pub(super) fn failure(code: u16, reason: &str, message: &str) -> Response<Body> {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message});
    json(code, &status)
}

/// The failure of a server-side apply: field and owner of each conflict.
pub(super) fn conflicts(conflicts: &[(String, String)]) -> Response<Body> {
    let causes: Vec<Value> = conflicts
        .iter()
        .map(|(field, owner)| json!({"reason": "FieldManagerConflict", "field": field, "message": format!("conflict with \"{owner}\"")}))
        .collect();
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": 409, "reason": "Conflict", "message": "Apply failed", "details": {"causes": causes}});
    json(409, &status)
}
