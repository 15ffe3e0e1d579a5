//! A thousand files: reader, JSON Schema and API server take the same ones, but for differences that are named.

use super::differences::every_field::{Validator, all_pointers};
use super::differences::{DIFFERENCES, Difference, Taken, valid};
use super::{define, examples};
use crate::beside_an_api_server;
use canary_release::file;
use fastrand::Rng;
use mesh_lab::Kubernetes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const FILES: usize = 1_000;
const SEED: u64 = 41;
const NAMESPACE: &str = "resource-agreement";

/// Texts that a field may have, or should not.
const TEXTS: [&str; 41] = [
    "",
    "zzz",
    "Zz z",
    "v1",
    "v1.2_A",
    "shop",
    "shop/shop",
    "-a",
    "a.b",
    "*",
    "*.example.com",
    "/",
    "/a?b",
    "24h",
    "9s",
    "15s",
    "45s",
    "2h",
    "0s",
    "p95",
    "500ms",
    "20%",
    "true",
    "off",
    "token",
    "mon",
    "12:00",
    "24:00",
    "https://a.test/",
    "http://",
    "embedded",
    "oci://a/b",
    "/run/x",
    "127.0.0.1:80",
    "2026-11-21T12:00:00Z",
    "manual",
    "local",
    "wasmplugin",
    "None",
    "event",
    "rollout",
];

/// Other values, as JSON.
const OTHERS: [&str; 25] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "7",
    "100",
    "50.5",
    "0.29",
    "0.001",
    "-1",
    "1000000",
    "[]",
    "[[]]",
    "{}",
    "[null]",
    r#"["zzz"]"#,
    "[{}]",
    r#"{"zzz": 1}"#,
    r#"{"zzz": null}"#,
    r#"{"name": "shop"}"#,
    r#"{"claim": "sub"}"#,
    r#"{"env": "A"}"#,
    r#"{"mode": "token"}"#,
    r#"{"min": 1}"#,
];

fn values() -> Vec<Value> {
    let others = OTHERS.iter().map(|other| serde_json::from_str(other).unwrap());
    TEXTS.iter().map(|text| json!(text)).chain(others).collect()
}

/// Changes one value of a file.
fn mutate(rng: &mut Rng, file: &mut Value, values: &[Value]) {
    let mut all = all_pointers(file);
    all.retain(|pointer| pointer.starts_with("/spec/"));
    let Some(pointer) = rng.choice(&all).cloned() else { return };
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match rng.u8(0..10) {
        // Most fields may be left out.
        0..=4 => match file.pointer_mut(parent).unwrap() {
            Value::Object(fields) => drop(fields.remove(name)),
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            _ => {}
        },
        5 => {
            if let Some(items) = file.pointer_mut(parent).and_then(Value::as_array_mut) {
                items.push(items[0].clone());
            }
        }
        6 => {
            let other = file.pointer(rng.choice(&all).unwrap()).unwrap().clone();
            *file.pointer_mut(&pointer).unwrap() = other;
        }
        _ => file.pointer_mut(&pointer).unwrap().clone_from(rng.choice(values).unwrap()),
    }
}

/// Files with every field and the examples, each with some changes.
fn files() -> Vec<Value> {
    let (mut rng, values) = (Rng::with_seed(SEED), values());
    let example = |path: &std::path::PathBuf| -> Value {
        let mut file: Value = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        file["metadata"]["namespace"] = json!(NAMESPACE);
        file
    };
    let mut bases: Vec<Value> = examples().iter().map(example).collect();
    for _ in 0..bases.len() {
        let mut all = valid();
        all["metadata"]["namespace"] = json!(NAMESPACE);
        bases.push(all);
    }
    let changed = |number: usize| {
        let mut file = bases[number % bases.len()].clone();
        for _ in 0..rng.usize(0..4) {
            mutate(&mut rng, &mut file, &values);
        }
        file
    };
    (0..FILES).map(changed).collect()
}

/// The causes for which the API server refuses an object; none if it takes it.
async fn causes(api: &Kubernetes, file: &Value) -> Vec<String> {
    let namespace = file["metadata"]["namespace"].as_str().unwrap();
    let path = format!(
        "/apis/canary-ctl.io/v1alpha1/namespaces/{namespace}/releases?dryRun=All&fieldValidation=Strict"
    );
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(file.to_string().into_bytes()).unwrap();
    let error = match api.client().unwrap().request::<Value>(request).await {
        Ok(_) => return Vec::new(),
        Err(kube::Error::Api(status)) => status,
        Err(error) => panic!("{error}"),
    };
    let details = error.details.as_ref().map(|details| &details.causes).into_iter().flatten();
    let causes: Vec<String> = details
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .filter(|cause| !cause.contains("some validation rules were not checked"))
        .collect();
    if causes.is_empty() { vec![error.message.clone()] } else { causes }
}

fn faults(file: &Value) -> Vec<String> {
    match file::parse(Path::new("canary.yaml"), &file.to_string()) {
        Ok(_) => Vec::new(),
        Err(file::Error::Faulty { faults, .. }) => faults.into_iter().map(|fault| fault.message).collect(),
        Err(error) => panic!("{error}"),
    }
}

/// The differences that explain all of these causes or faults.
fn explain(taken: Taken, said: &[String]) -> Result<Vec<&'static Difference>, String> {
    let explains = |difference: &&Difference, said: &str| {
        difference.taken == taken && difference.said.iter().any(|part| said.contains(part))
    };
    let one =
        |said: &String| DIFFERENCES.iter().find(|difference| explains(difference, said)).ok_or(said.clone());
    said.iter().map(one).collect()
}

#[test]
fn reader_schema_and_api_server_take_the_same_thousand_files() {
    beside_an_api_server(async |api| {
        define(api, NAMESPACE).await;
        let validator = Validator::new();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut wrong = Vec::new();
        for file in files() {
            let (faults, causes) = (faults(&file), causes(api, &file).await);
            if let (true, Some(error)) = (faults.is_empty(), validator.faults(&file)) {
                wrong.push(format!("the schema refuses what the reader takes: {error} in {file}"));
            }
            let explained = match (faults.is_empty(), causes.is_empty()) {
                (true, false) => explain(Taken::ByReader, &causes),
                (false, true) => explain(Taken::ByApiServer, &faults),
                (is_taken, _) => {
                    *counts.entry(if is_taken { "taken by both" } else { "refused by both" }).or_default() +=
                        1;
                    continue;
                }
            };
            match explained {
                Ok(all) => all.iter().for_each(|one| *counts.entry(one.name).or_default() += 1),
                Err(said) => wrong.push(format!("{said}: {faults:?} {causes:?}")),
            }
        }
        assert!(wrong.is_empty(), "{} files: {}\n{counts:#?}", wrong.len(), wrong.join("\n"));
        assert!(counts["taken by both"] > 150 && counts["refused by both"] > 150, "{counts:#?}");
    });
}

#[test]
fn each_difference_exists() {
    beside_an_api_server(async |api| {
        define(api, "resource-differences").await;
        for difference in DIFFERENCES {
            let mut file = valid();
            assert!(file.pointer(difference.at).is_some(), "{}: {}", difference.name, difference.at);
            *file.pointer_mut(difference.at).unwrap() = (difference.example)();
            let text = file.to_string().replace(NAMESPACE, "resource-differences");
            let file: Value = serde_json::from_str(&text).unwrap();
            let taken = (faults(&file), causes(api, &file).await);
            let said = match difference.taken {
                Taken::ByReader => [taken.1, taken.0],
                Taken::ByApiServer => [taken.0, taken.1],
            };
            let is_explained =
                difference.said.iter().any(|part| said[0].iter().any(|said| said.contains(part)));
            assert!(is_explained && said[1].is_empty(), "{}: {said:?}", difference.name);
        }
    });
}
