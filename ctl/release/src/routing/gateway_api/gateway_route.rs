//! A route as precedence needs it, of whatever kind: its rules and their matches, with the defaults of the specification.
//!
//! A match is read strictly: of one with a field that is not known here no order can be said.

use super::refusal::{RulePlace, SiblingRefusal};
use super::route_kind::RouteKind;
use crate::object::NamespacedName;
use serde_json::Value;

/// A route object.
#[derive(Clone, Debug)]
pub(super) struct GatewayRoute<'o> {
    pub(super) object: &'o Value,
    pub(super) kind: RouteKind,
    pub(super) name: NamespacedName,
    /// RFC 3339 in UTC, as the API server writes it. None of an object that does not exist yet.
    pub(super) created: Option<&'o str>,
    pub(super) rules: Vec<RouteRule<'o>>,
}

/// A rule, and its matches: at least one.
#[derive(Clone, Debug)]
pub(super) struct RouteRule<'o> {
    pub(super) body: &'o Value,
    pub(super) matches: Vec<RouteMatch>,
}

/// The conditions of a match.
#[derive(Clone, Debug)]
pub(super) struct RouteMatch {
    pub(super) path: PathMatch,
    /// That of HTTP.
    pub(super) method: Option<String>,
    pub(super) headers: Vec<ValueMatch>,
    pub(super) query: Vec<ValueMatch>,
    /// The rule has no matches, and no default is written into it. Istio orders it after one that is empty.
    pub(super) is_implied: bool,
    /// As it is written, or the default.
    pub(super) body: Value,
}

/// The condition on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathMatch {
    Exact(String),
    /// Whole segments.
    Prefix(String),
    /// The method of any gRPC service.
    AnyService(String),
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

impl<'o> GatewayRoute<'o> {
    /// # Errors
    ///
    /// The first match that has a field or a type that is not known here.
    pub(super) fn read(object: &'o Value) -> Result<Self, Box<SiblingRefusal>> {
        let name = name_of(object);
        let kind = RouteKind::of_object(object);
        let mut rules = Vec::new();
        for (index, body) in list(object.pointer("/spec/rules")).iter().enumerate() {
            let refuse = |field| {
                let place = RulePlace { kind, route: name.clone(), rule: index };
                Box::new(SiblingRefusal::UnknownField { place, field })
            };
            rules.push(RouteRule { body, matches: kind.matches_of(body).map_err(refuse)? });
        }
        Ok(Self {
            created: object.pointer("/metadata/creationTimestamp").and_then(Value::as_str),
            object,
            kind,
            name,
            rules,
        })
    }

    /// One of its rules, by its position.
    pub(super) fn place(&self, rule: usize) -> RulePlace {
        RulePlace { kind: self.kind, route: self.name.clone(), rule }
    }
}

impl PathMatch {
    pub(super) fn is_regex(&self) -> bool {
        matches!(self, Self::Regex(_))
    }
}

impl RouteMatch {
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
