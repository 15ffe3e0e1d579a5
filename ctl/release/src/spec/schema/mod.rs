//! The JSON Schema of `canary.yaml`, for editors: the fields as [`super::read`] reads them, with the words of its tables.
//!
//! It is draft 7, which is what editors support. A field that may be left out may be empty, and a scalar may be of any YAML type
//! that reads as its text, because `read` takes both. What several fields say together is `lint`'s: two versions of the same name
//! are valid here.
//!
//! Ours and not `schemars`: there is no type to derive it from. `read` collects every fault with its place, which `serde` cannot, so its
//! fields are calls; `ctl/release/tests/schema/` compares each name, word and type with what those calls say.

mod analysis;
mod build;
mod delivery;
mod hooks;
mod rollout;
mod spec;
mod users;
mod windows;

use super::read::{API_VERSION, KIND};
pub(crate) use build::LABEL;
use build::{label, map_of, mapping, optional, pattern, required, set, text};
use serde_json::{Value, json};

/// The schema.
pub fn json_schema() -> Value {
    let metadata = mapping(
        "Name of the release.",
        vec![
            required(
                "name",
                label("Name of the release, and of its Service unless `spec.service` names another."),
            ),
            required("namespace", label("Namespace of the Service.")),
            optional(
                "uid",
                text("`spec.uid` of older files. The API server sets another value in an object."),
            ),
            optional("labels", labels()),
            optional("annotations", annotations()),
        ],
    );
    let release = mapping(
        "Versions of a service, and how users are assigned to them.",
        vec![
            required("apiVersion", json!({"const": API_VERSION, "description": "Version of this format."})),
            required("kind", json!({"const": KIND, "description": "Kind of this file."})),
            required("metadata", metadata),
            required("spec", spec::spec()),
        ],
    );
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "canary.yaml",
    });
    if let (Value::Object(all), Value::Object(release)) = (&mut schema, release) {
        all.extend(release);
    }
    schema
}

/// A name of Kubernetes: `team`, `example.com/team`.
const NAME: &str =
    r"^([a-z0-9][-a-z0-9.]*[a-z0-9]/|[a-z0-9]/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";

fn labels() -> Value {
    let mut value = pattern("Its value.", "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$");
    set(&mut value, "type", json!(["string", "number", "boolean"]));
    named(
        "Labels of every object that is created for the release. A shared object has those of each release.",
        value,
    )
}

fn annotations() -> Value {
    named("Annotations of the same objects.", text("Its value."))
}

fn named(description: &str, value: Value) -> Value {
    let mut named = map_of(description, value);
    set(&mut named, "propertyNames", json!({"pattern": NAME}));
    named
}
