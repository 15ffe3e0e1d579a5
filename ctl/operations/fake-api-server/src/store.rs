//! Objects by path, each with a version that every change raises.

use super::definitions::{prune, refusal, schema_of};
use super::request::{Request, conflicts, failure, json};
use super::server_side_apply::{applied, updated};
use http::{Method, Response};
use kube::client::Body;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The response to a list, without a copy of the objects.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'s> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Value,
    items: Vec<&'s Value>,
}

/// Path of a collection, and the name of an object in it.
type Key = (String, String);

#[derive(Default)]
pub struct Store {
    objects: BTreeMap<Key, Value>,
    version: u64,
    /// Namespaces that were deleted: nothing can be created in them.
    deleted: Vec<String>,
    /// Plural names of kinds that are not installed.
    pub uninstalled: Vec<&'static str>,
}

impl Store {
    /// All objects of a kind.
    pub fn of_kind<'s>(&'s self, kind: &'static str) -> impl Iterator<Item = &'s Value> + use<'s> {
        self.objects.values().filter(move |object| object["kind"] == kind)
    }

    /// An object by kind and name.
    pub fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        self.objects.values().find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
    }

    /// Kind and name of all objects of these kinds.
    pub fn names(&self, kinds: &[&str]) -> Vec<String> {
        let is_of_kind = |object: &&Value| kinds.iter().any(|kind| object["kind"] == *kind);
        let name =
            |object: &Value| format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
        self.objects.values().filter(is_of_kind).map(name).collect()
    }

    /// Changes an object, as its owner would by `kubectl edit`.
    pub fn edit(&mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        self.edit_as("kubectl-edit", kind, name, change);
    }

    /// The same as another client.
    pub fn edit_as(&mut self, manager: &str, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        let (key, object) = self.objects.iter().find(|(_, object)| is_it(object)).expect("the object exists");
        let (key, mut after) = (key.clone(), object.clone());
        change(&mut after);
        let after = updated(manager, Some(object), after);
        self.put(key, after);
    }

    /// Changes an object as the owner of each field that changes.
    pub fn edit_as_owner(&mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        let (key, object) = self.objects.iter().find(|(_, object)| is_it(object)).expect("the object exists");
        let (key, mut after) = (key.clone(), object.clone());
        change(&mut after);
        self.put(key, after);
    }

    /// Lets all Leases expire, as they do when their holders do not renew them.
    pub(super) fn expire_leases(&mut self) {
        for lease in self.objects.values_mut().filter(|object| object["kind"] == "Lease") {
            lease["spec"]["leaseDurationSeconds"] = json!(0);
        }
    }

    /// Deletes an object.
    pub fn remove(&mut self, kind: &str, name: &str) {
        self.objects.retain(|_, object| object["kind"] != kind || object["metadata"]["name"] != name);
    }

    /// Deletes a namespace with everything in it.
    pub fn delete_namespace(&mut self, name: &str) {
        self.objects.retain(|_, object| object["metadata"]["namespace"] != name);
        self.deleted.push(name.to_owned());
    }

    pub fn create_as(&mut self, manager: &str, body: &Value) {
        let (api_version, namespace) = (text(&body["apiVersion"]), text(&body["metadata"]["namespace"]));
        let root = if api_version.contains('/') { "apis" } else { "api" };
        let kind = text(&body["kind"]).to_lowercase();
        let plural = match kind.strip_suffix("ry") {
            Some(stem) => format!("{stem}ries"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        let collection = if namespace.is_empty() {
            format!("/{root}/{api_version}/{plural}")
        } else {
            format!("/{root}/{api_version}/namespaces/{namespace}/{plural}")
        };
        let key = (collection, text(&body["metadata"]["name"]).to_owned());
        self.put(key, updated(manager, None, body.clone()));
    }

    pub(super) fn respond(&mut self, request: &Request) -> Response<Body> {
        let (collection, name) = split(&request.path);
        let Some(name) = name.or_else(|| created_name(request)) else {
            return self.list(collection, request);
        };
        let key = (collection.to_owned(), name.to_owned());
        let found = self.objects.get(&key).cloned();
        let is_in = |namespace: &&String| collection.contains(&format!("/namespaces/{namespace}/"));
        if let (true, None, Some(namespace)) =
            (request.method != Method::GET, &found, self.deleted.iter().find(is_in))
        {
            return failure(404, "NotFound", &format!("namespaces \"{namespace}\" not found"));
        }
        match (&request.method, found) {
            (&Method::POST, Some(_)) => failure(409, "AlreadyExists", "already exists"),
            (&Method::POST, None) => {
                self.commit(request, key, updated(request.field_manager(), None, request.body.clone()))
            }
            (&Method::PATCH, found) if request.is_apply() => self.apply(request, key, found.as_ref()),
            (_, None) => failure(404, "NotFound", "not found"),
            (&Method::GET, Some(found)) if request.is_for_metadata() => json(
                200,
                &json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                    "metadata": found["metadata"]}),
            ),
            (&Method::GET, Some(found)) => json(200, &found),
            (&Method::DELETE, Some(found)) => self.delete(request, &key, &found),
            (&Method::PUT, Some(found)) => {
                if is_stale(&request.body["metadata"], &found) {
                    return failure(409, "Conflict", "the object has been modified");
                }
                let after = updated(request.field_manager(), Some(&found), request.body.clone());
                self.commit(request, key, after)
            }
            (&Method::PATCH, Some(found)) => {
                if is_stale(&request.body["metadata"], &found) {
                    return failure(409, "Conflict", "the object has been modified");
                }
                let mut after = found.clone();
                merge(&mut after, &request.body);
                let after = updated(request.field_manager(), Some(&found), after);
                self.commit(request, key, after)
            }
            (method, Some(_)) => failure(405, "MethodNotAllowed", method.as_str()),
        }
    }

    fn apply(&mut self, request: &Request, key: Key, found: Option<&Value>) -> Response<Body> {
        if found.is_some_and(|found| is_stale(&request.body["metadata"], found)) {
            return failure(409, "Conflict", "the object has been modified");
        }
        match applied(request.field_manager(), found, &request.body, request.forces()) {
            Ok(after) => self.commit(request, key, after),
            Err(found) => conflicts(&found),
        }
    }

    fn delete(&mut self, request: &Request, key: &Key, found: &Value) -> Response<Body> {
        let wanted = &request.body["preconditions"];
        let differs = |field: &str| !wanted[field].is_null() && wanted[field] != found["metadata"][field];
        if differs("uid") || differs("resourceVersion") {
            return failure(409, "Conflict", "the precondition failed");
        }
        if !request.is_dry_run() && request.body["dryRun"].is_null() {
            self.objects.remove(key);
        }
        json(200, found)
    }

    fn list(&self, collection: &str, request: &Request) -> Response<Body> {
        if self.uninstalled.iter().any(|plural| collection.ends_with(&format!("/{plural}"))) {
            return failure(404, "NotFound", "the server could not find the requested resource");
        }
        let selector = request.query.get("labelSelector").map_or("", String::as_str);
        let wanted: Vec<(&str, &str)> = selector.split(',').filter_map(|pair| pair.split_once('=')).collect();
        let is_selected = |object: &&Value| {
            wanted.iter().all(|(name, value)| object["metadata"]["labels"][*name] == *value)
        };
        let is_of_all = !collection.contains("/namespaces/");
        let is_in = |((of, _), _): &(&Key, &Value)| {
            of == collection || is_of_all && without_namespace(of) == collection
        };
        let objects = self.objects.iter().filter(is_in).map(|(_, object)| object);
        let items = objects.filter(is_selected).collect();
        json(200, &List { kind: "List", api_version: "v1", metadata: json!({}), items })
    }

    fn commit(&mut self, request: &Request, key: Key, after: Value) -> Response<Body> {
        if let Some(schema) = self.schema(&after)
            && let Some(refused) = refusal(schema, &after, "")
        {
            return failure(422, "Invalid", &refused);
        }
        if request.is_dry_run() {
            return json(200, &after);
        }
        let code = if request.method == Method::POST { 201 } else { 200 };
        json(code, self.put(key, after))
    }

    fn schema(&self, object: &Value) -> Option<&Value> {
        schema_of(self.of_kind("CustomResourceDefinition"), &object["kind"])
    }

    /// Stores an object under a version of its own, if it differs from the stored one.
    fn put(&mut self, key: Key, mut after: Value) -> &Value {
        self.version += 1;
        if let Some(schema) = self.schema(&after) {
            prune(schema, &mut after);
        }
        let before = self.objects.get(&key);
        let field =
            |name: &str, new: String| before.map_or(json!(new), |before| before["metadata"][name].clone());
        let uid = field("uid", format!("uid-{}", self.version));
        let created = field("creationTimestamp", "2026-11-01T00:00:00Z".to_owned());
        let version = field("resourceVersion", String::new());
        if ["Deployment", "Release", "ReplicaSet"].contains(&text(&after["kind"])) {
            let generation = before.and_then(|before| before["metadata"]["generation"].as_u64());
            let is_other = before.is_none_or(|before| before["spec"] != after["spec"]);
            after["metadata"]["generation"] = json!(generation.unwrap_or_default() + u64::from(is_other));
        }
        after["metadata"]["uid"] = uid;
        after["metadata"]["creationTimestamp"] = created;
        after["metadata"]["resourceVersion"] = version;
        if before != Some(&after) {
            after["metadata"]["resourceVersion"] = json!(self.version.to_string());
        }
        let stored = self.objects.entry(key).or_default();
        *stored = after;
        stored
    }
}

/// The path of the collection, and the name of the object; the subresource `status` is a part of it.
fn split(path: &str) -> (&str, Option<&str>) {
    let path = path.strip_suffix("/status").unwrap_or(path);
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    // `api/v1/namespaces/<namespace>/<plural>/<name>`, or `apis/<group>/<version>/…`.
    let named = if path.starts_with("/apis/") { 7 } else { 6 };
    // Without a namespace it is two parts shorter.
    if parts.len() < named && parts.len() != named - 2 {
        return (path, None);
    }
    let (collection, name) = path.rsplit_once('/').unwrap();
    (collection, Some(name))
}

/// The path of a collection in all namespaces.
fn without_namespace(collection: &str) -> String {
    let Some((root, rest)) = collection.split_once("/namespaces/") else { return collection.to_owned() };
    let plural = rest.split_once('/').map_or(rest, |(_, plural)| plural);
    format!("{root}/{plural}")
}

fn created_name(request: &Request) -> Option<&str> {
    if request.method == Method::POST { request.body["metadata"]["name"].as_str() } else { None }
}

/// Whether a write names another version than the stored one.
fn is_stale(metadata: &Value, found: &Value) -> bool {
    let version = &metadata["resourceVersion"];
    !version.is_null() && *version != found["metadata"]["resourceVersion"]
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().shift_remove(name);
        } else {
            merge(&mut target[name.as_str()], value);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
