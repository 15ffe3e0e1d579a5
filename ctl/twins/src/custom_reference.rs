//! References in objects of kinds that no table knows, by the form of their fields.
//!
//! ```text
//! {kind: Deployment, name: shop}        a kind beside the name, with `apiVersion`, `apiGroup` or `group` of that kind, or none
//! secretRef: {name: db}, secretName: db a field that is named for the kind
//! scaleTargetRef: {name: shop}          KEDA's, which means a Deployment
//! ```
//!
//! A reference of another form is named in the output: see `unfollowed`.

use serde_json::{Map, Value};

/// Fields of an object itself.
const OWN: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
/// Kinds that can be renamed, with their API groups.
const GROUPS: [(&str, &str); 6] = [
    ("ConfigMap", ""),
    ("Deployment", "apps"),
    ("HorizontalPodAutoscaler", "autoscaling"),
    ("ScaledObject", "keda.sh"),
    ("Secret", ""),
    ("VerticalPodAutoscaler", "autoscaling.k8s.io"),
];
/// The beginning of a reference field's name, and the kind that it means.
const FIELDS: [(&str, &str); 4] = [
    ("configmap", "ConfigMap"),
    ("deployment", "Deployment"),
    ("scaletarget", "Deployment"),
    ("secret", "Secret"),
];
const ENDS: [&str; 11] = [
    "",
    "keyref",
    "keyselector",
    "name",
    "names",
    "ref",
    "reference",
    "references",
    "refs",
    "s",
    "targetref",
];

/// Calls `edit` with the kind and the name of each reference, those to another namespace than this one left out.
pub(crate) fn visit(value: &mut Value, namespace: Option<&str>, edit: &mut dyn FnMut(&str, &mut String)) {
    let Some(fields) = value.as_object_mut() else { return };
    for (_, value) in fields.iter_mut().filter(|(field, _)| !OWN.contains(&field.as_str())) {
        walk(value, namespace, edit);
    }
}

fn walk(value: &mut Value, namespace: Option<&str>, edit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, namespace, edit)),
        Value::Object(fields) => {
            let is_here = is_in(fields, namespace);
            let kind = typed(fields).map(str::to_owned);
            if let (true, Some(kind), Some(Value::String(name))) = (is_here, kind, fields.get_mut("name")) {
                edit(&kind, name);
            }
            for (field, value) in fields.iter_mut() {
                if let Some(kind) = implied_kind(field).filter(|_| is_here) {
                    named(kind, value, namespace, edit);
                }
                walk(value, namespace, edit);
            }
        }
        _ => {}
    }
}

/// The names in a field that is named for a kind: texts, or mappings with a name.
fn named(kind: &str, value: &mut Value, namespace: Option<&str>, edit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(name) => edit(kind, name),
        Value::Array(items) => items.iter_mut().for_each(|item| named(kind, item, namespace, edit)),
        Value::Object(fields) if !fields.contains_key("kind") && is_in(fields, namespace) => {
            if let Some(Value::String(name)) = fields.get_mut("name") {
                edit(kind, name);
            }
        }
        _ => {}
    }
}

/// The kind beside a name, if it is that of Kubernetes, and not one of the same name in another group.
fn typed(fields: &Map<String, Value>) -> Option<&str> {
    let kind = text(fields, "kind")?;
    let of_version = |version: &'_ str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let group = text(fields, "apiVersion").map(of_version);
    let group =
        group.or_else(|| ["apiGroup", "group"].iter().find_map(|name| text(fields, name).map(str::to_owned)));
    let expected = GROUPS.iter().find(|(name, _)| *name == kind).map(|(_, group)| *group);
    let is_it = match (&group, expected) {
        (Some(group), Some(expected)) => group == expected,
        _ => true,
    };
    is_it.then_some(kind)
}

fn implied_kind(field: &str) -> Option<&'static str> {
    let field = field.to_ascii_lowercase();
    let is_it = |start: &str| field.strip_prefix(start).is_some_and(|end| ENDS.contains(&end));
    FIELDS.iter().find(|(start, _)| is_it(start)).map(|(_, kind)| *kind)
}

fn is_in(fields: &Map<String, Value>, namespace: Option<&str>) -> bool {
    let found = text(fields, "namespace").filter(|name| !name.is_empty());
    namespace.is_none_or(|namespace| found.is_none_or(|found| found == namespace))
}

fn text<'v>(fields: &'v Map<String, Value>, field: &str) -> Option<&'v str> {
    fields.get(field)?.as_str()
}

/// Fields whose texts are labels, and those for other kinds than can be renamed.
const OTHERS: [&str; 8] =
    ["backendref", "label", "match", "parentref", "role", "selector", "service", "tolerations"];

/// The names of `kubectl` for a Deployment.
const RESOURCES: [&str; 5] = ["deploy", "deployment", "deployment.apps", "deployments", "deployments.apps"];

fn is_resource(text: &str) -> bool {
    RESOURCES.contains(&text)
}

/// The name of a renamed object in a text, if its field looks like a reference or the text is one: `deployment/shop`.
fn named_by<'v>(
    path: &str,
    text: &'v str,
    is_renamed: &dyn Fn(&str) -> bool,
    is_service: &dyn Fn(&str) -> bool,
) -> Option<&'v str> {
    if let Some((_, name)) = text.rsplit_once('/').filter(|(resource, _)| is_resource(resource)) {
        return is_renamed(name).then_some(name);
    }
    let lower = path.to_ascii_lowercase();
    let is_workload = ["target", "workload", "deploy"].iter().any(|word| lower.contains(word));
    let field = lower.rsplit('.').next().unwrap_or_default();
    let is_reference =
        field.ends_with("name") || field.ends_with("ref") || lower.contains("ref") || is_workload;
    (is_renamed(text) && is_reference && (is_workload || !is_service(text))).then_some(text)
}

/// Texts of a custom resource that are one of these names, in fields that look like references: with the path of each. `is_service` says whether
/// a Service has the name, too: then only a field that is for a workload means something else.
pub(crate) fn unfollowed<'v>(
    object: &'v Value,
    is_renamed: &dyn Fn(&str) -> bool,
    is_service: &dyn Fn(&str) -> bool,
) -> Vec<(String, &'v str)> {
    let mut found = Vec::new();
    let mut rest: Vec<(String, &Value)> = object
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(field, _)| !OWN.contains(&field.as_str()))
        .map(|(field, value)| (field.clone(), value))
        .collect();
    while let Some((path, value)) = rest.pop() {
        match value {
            Value::String(text) => {
                if let Some(name) = named_by(&path, text, is_renamed, is_service) {
                    found.push((path, name));
                }
            }
            Value::Array(items) => {
                rest.extend(items.iter().enumerate().map(|(index, item)| (format!("{path}[{index}]"), item)));
            }
            // What has a kind beside its name was understood, unless the kind is written as a resource.
            Value::Object(fields) => {
                let kind = text(fields, "kind");
                let has_kind = kind.is_some();
                if let (true, Some(name)) = (kind.is_some_and(is_resource), text(fields, "name"))
                    && is_renamed(name)
                {
                    found.push((format!("{path}.name"), name));
                }
                let is_other = |field: &str| {
                    let field = field.to_ascii_lowercase();
                    OTHERS.iter().any(|other| field.contains(other)) || (has_kind && field == "name")
                };
                rest.extend(
                    fields
                        .iter()
                        .filter(|(field, _)| !is_other(field))
                        .map(|(field, value)| (format!("{path}.{field}"), value)),
                );
            }
            _ => {}
        }
    }
    found.sort();
    found
}
