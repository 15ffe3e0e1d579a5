//! An `HTTPRoute` as precedence needs it: its rules and their matches, with the defaults of the specification.
//!
//! A match is read strictly: of one with a field that is not known here no order can be said.
//!
//! # Source
//! Gateway API 1.7.0, `HTTPRouteMatch`: a path is `PathPrefix` `/` by default, a header and a query parameter `Exact`; of equal
//! names (those of headers without case) the first counts.

use super::refusal::{RulePlace, SiblingRefusal};
use crate::object::NamespacedName;
use serde_json::Value;

/// A route object.
#[derive(Clone, Debug)]
pub(super) struct HttpRoute<'o> {
    pub(super) object: &'o Value,
    pub(super) name: NamespacedName,
    /// RFC 3339 in UTC, as the API server writes it. None of an object that does not exist yet.
    pub(super) created: Option<&'o str>,
    pub(super) rules: Vec<HttpRule<'o>>,
}

/// A rule, and its matches: at least one.
#[derive(Clone, Debug)]
pub(super) struct HttpRule<'o> {
    pub(super) body: &'o Value,
    pub(super) matches: Vec<HttpMatch>,
}

/// The conditions of a match.
#[derive(Clone, Debug)]
pub(super) struct HttpMatch {
    pub(super) path: PathMatch,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<ValueMatch>,
    pub(super) query: Vec<ValueMatch>,
    /// As it is written, or the default.
    pub(super) body: Value,
}

/// The condition on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathMatch {
    Exact(String),
    /// Whole segments.
    Prefix(String),
    Regex(String),
}

/// The condition on one header or query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueMatch {
    /// In lower case, if it is that of a header.
    pub(super) name: String,
    pub(super) is_regex: bool,
    pub(super) value: String,
}

impl<'o> HttpRoute<'o> {
    /// # Errors
    ///
    /// The first match that has a field or a type that is not known here.
    pub(super) fn read(object: &'o Value) -> Result<Self, SiblingRefusal> {
        let name = name_of(object);
        let mut rules = Vec::new();
        for (index, body) in list(object.pointer("/spec/rules")).iter().enumerate() {
            let refuse = |field| SiblingRefusal::UnknownField {
                place: RulePlace { route: name.clone(), rule: index },
                field,
            };
            rules.push(HttpRule { body, matches: matches_of(body).map_err(refuse)? });
        }
        Ok(Self {
            created: object.pointer("/metadata/creationTimestamp").and_then(Value::as_str),
            object,
            name,
            rules,
        })
    }
}

impl PathMatch {
    pub(super) fn is_regex(&self) -> bool {
        matches!(self, Self::Regex(_))
    }
}

impl HttpMatch {
    /// Whether it names a header, given in lower case.
    pub(super) fn names_header(&self, name: &str) -> bool {
        self.headers.iter().any(|header| header.name == name)
    }
}

/// Namespace and name of an object.
pub(super) fn name_of(object: &Value) -> NamespacedName {
    let text = |field: &str| {
        let found = object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    (text("namespace"), text("name"))
}

/// The elements of a list, which may be missing.
pub(super) fn list(field: Option<&Value>) -> &[Value] {
    field.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field that is not one of these.
pub(super) fn unknown_field(body: &Value, known: &[&str]) -> Option<String> {
    let mut fields = body.as_object().into_iter().flat_map(|fields| fields.keys());
    fields.find(|field| !known.contains(&field.as_str())).cloned()
}

fn matches_of(rule: &Value) -> Result<Vec<HttpMatch>, String> {
    let written = list(rule.get("matches"));
    if written.is_empty() {
        let every = serde_json::json!({"path": {"type": "PathPrefix", "value": "/"}});
        return Ok(vec![read_match(&every)?]);
    }
    written.iter().map(read_match).collect()
}

fn read_match(body: &Value) -> Result<HttpMatch, String> {
    if let Some(field) = unknown_field(body, &["path", "method", "headers", "queryParams"]) {
        return Err(format!("matches.{field}"));
    }
    let headers = read_values(body.get("headers"), "matches.headers", str::to_ascii_lowercase)?;
    Ok(HttpMatch {
        path: read_path(body.get("path"))?,
        method: body.get("method").and_then(Value::as_str).map(str::to_owned),
        headers,
        query: read_values(body.get("queryParams"), "matches.queryParams", str::to_owned)?,
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
