//! The kinds of routes of the Gateway API that match headers, and how a match of each is read.
//!
//! # Source
//! Gateway API 1.7.0. `HTTPRouteMatch`: a path is `PathPrefix` `/` by default. `GRPCMethodMatch`: `Exact` by default, a service, a
//! method, or both; a call of gRPC is a request to `/SERVICE/METHOD`. A header and a query parameter are `Exact` by default; of equal
//! names (those of headers without case) the first counts.

use super::gateway_route::{PathMatch, RouteMatch, ValueMatch, list, unknown_field};
use serde_json::{Value, json};

/// The kind of the routes of HTTP.
pub const HTTP_ROUTE_KIND: &str = "HTTPRoute";
/// The kind of the routes of gRPC.
pub(super) const GRPC_ROUTE_KIND: &str = "GRPCRoute";

/// A kind of routes of the Gateway API that match headers: one that routes of our own can repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteKind {
    /// `HTTPRoute`.
    Http,
    /// `GRPCRoute`.
    Grpc,
}

impl RouteKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Http, Self::Grpc];

    /// The kind of an object; `None` if it is another one.
    pub fn of(kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == kind)
    }

    /// The kind of a route: of HTTP if it is not said.
    pub(super) fn of_object(route: &Value) -> Self {
        route.get("kind").and_then(Value::as_str).and_then(Self::of).unwrap_or(Self::Http)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => HTTP_ROUTE_KIND,
            Self::Grpc => GRPC_ROUTE_KIND,
        }
    }

    /// Its resource, for rights.
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Http => "httproutes",
            Self::Grpc => "grpcroutes",
        }
    }

    /// The beginning of the names of our routes, before a number. istiod keeps one of two routes that have the same namespace and name,
    /// also if their kinds differ.
    pub(super) fn prefix(self, name: &str) -> String {
        match self {
            Self::Http => name.to_owned(),
            Self::Grpc => format!("{name}.grpc"),
        }
    }

    /// The part of a request that a match may compare by a regular expression, for messages.
    pub(super) const fn subject(self) -> &'static str {
        match self {
            Self::Http => "paths",
            Self::Grpc => "methods",
        }
    }

    /// The matches of a rule: at least one.
    ///
    /// # Errors
    ///
    /// The first field or type that is not known here.
    pub(super) fn matches_of(self, rule: &Value) -> Result<Vec<RouteMatch>, String> {
        let written = list(rule.get("matches"));
        match self {
            Self::Http if written.is_empty() => {
                Ok(vec![read_http(&json!({"path": {"type": "PathPrefix", "value": "/"}}))?])
            }
            Self::Http => written.iter().map(read_http).collect(),
            Self::Grpc if written.is_empty() => {
                Ok(vec![RouteMatch { is_implied: true, ..read_grpc(&json!({}))? }])
            }
            Self::Grpc => written.iter().map(read_grpc).collect(),
        }
    }
}

fn read_http(body: &Value) -> Result<RouteMatch, String> {
    if let Some(field) = unknown_field(body, &["path", "method", "headers", "queryParams"]) {
        return Err(format!("matches.{field}"));
    }
    Ok(RouteMatch {
        path: read_path(body.get("path"))?,
        method: body.get("method").and_then(Value::as_str).map(str::to_owned),
        query: read_values(body.get("queryParams"), "matches.queryParams", str::to_owned)?,
        ..with_headers(body)?
    })
}

fn read_grpc(body: &Value) -> Result<RouteMatch, String> {
    if let Some(field) = unknown_field(body, &["method", "headers"]) {
        return Err(format!("matches.{field}"));
    }
    Ok(RouteMatch { path: read_call(body.get("method"))?, ..with_headers(body)? })
}

/// A match by headers alone.
fn with_headers(body: &Value) -> Result<RouteMatch, String> {
    Ok(RouteMatch {
        path: PathMatch::Prefix("/".to_owned()),
        method: None,
        headers: read_values(body.get("headers"), "matches.headers", str::to_ascii_lowercase)?,
        query: Vec::new(),
        is_implied: false,
        body: body.clone(),
    })
}

fn read_path(path: Option<&Value>) -> Result<PathMatch, String> {
    let text = |field: &str| path.and_then(|path| path.get(field)).and_then(Value::as_str);
    let value = text("value").unwrap_or("/").to_owned();
    match text("type").unwrap_or("PathPrefix") {
        "Exact" => Ok(PathMatch::Exact(value)),
        "PathPrefix" => Ok(PathMatch::Prefix(value)),
        "RegularExpression" => Ok(PathMatch::Regex(value)),
        other => Err(format!("matches.path.type: {other}")),
    }
}

/// The service and the method of a call, as a path.
fn read_call(call: Option<&Value>) -> Result<PathMatch, String> {
    let text = |field: &str| call.and_then(|call| call.get(field)).and_then(Value::as_str);
    match (text("type").unwrap_or("Exact"), text("service"), text("method")) {
        ("Exact", Some(service), Some(method)) => Ok(PathMatch::Exact(format!("/{service}/{method}"))),
        ("Exact", Some(service), None) => Ok(PathMatch::Prefix(format!("/{service}"))),
        ("Exact", None, Some(method)) => Ok(PathMatch::AnyService(method.to_owned())),
        ("Exact", None, None) => Ok(PathMatch::Prefix("/".to_owned())),
        ("RegularExpression", service, method) => {
            Ok(PathMatch::Regex(format!("/{}/{}", service.unwrap_or("[^/]+"), method.unwrap_or(".+"))))
        }
        (other, ..) => Err(format!("matches.method.type: {other}")),
    }
}

fn read_values(
    field: Option<&Value>,
    place: &str,
    name_as: fn(&str) -> String,
) -> Result<Vec<ValueMatch>, String> {
    let mut found: Vec<ValueMatch> = Vec::new();
    for one in list(field) {
        let text = |field: &str| one.get(field).and_then(Value::as_str);
        let is_regex = match text("type").unwrap_or("Exact") {
            "Exact" => false,
            "RegularExpression" => true,
            other => return Err(format!("{place}.type: {other}")),
        };
        let name = name_as(text("name").unwrap_or_default());
        if found.iter().all(|before| before.name != name) {
            found.push(ValueMatch { name, is_regex, value: text("value").unwrap_or_default().to_owned() });
        }
    }
    Ok(found)
}
