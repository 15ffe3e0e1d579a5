//! The JSON Schema of `canary.yaml` says what the parser does: the same fields, the same words, and no file that one of them takes
//! for its form and the other does not.
#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod crd;
mod every_field;
mod pointers;

use canary_release::file;
use canary_release::spec::json_schema;
use every_field::{Validator, all_pointers, on_a_cluster, on_this_machine, with_a_secret};
use placed_yaml::Fault;
use pointers::node;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The faults that the parser finds in a file. JSON is YAML.
fn parsed(file: &Value) -> Vec<Fault> {
    match file::parse(Path::new("canary.yaml"), &file.to_string()) {
        Ok(_) => Vec::new(),
        Err(file::Error::Faulty { faults, .. }) => faults,
        Err(error) => panic!("{error}"),
    }
}

fn names(fields: Option<&Map<String, Value>>) -> BTreeSet<String> {
    fields.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

#[test]
fn the_files_of_this_test_have_every_field_and_both_accept_them() {
    let (validator, schema) = (Validator::new(), json_schema());
    let mut covered: BTreeSet<String> = BTreeSet::new();
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for file in [on_a_cluster(), on_this_machine(), with_a_secret()] {
        assert_eq!((parsed(&file), validator.faults(&file)), (Vec::new(), None));
        for pointer in all_pointers(&file) {
            let value = file.pointer(&pointer).unwrap();
            let said = node(&schema, &file, &pointer);
            let place: String =
                pointer.split('/').map(|part| if part.parse::<u8>().is_ok() { "/*" } else { part }).collect();
            covered.extend(names(value.as_object()).into_iter().map(|name| format!("{place}.{name}")));
            wanted.extend(
                names(said["properties"].as_object()).into_iter().map(|name| format!("{place}.{name}")),
            );
        }
    }
    let missing: Vec<_> = wanted.difference(&covered).collect();
    assert_eq!(missing, Vec::<&String>::new(), "fields that no file of this test has");
    assert!(wanted.len() > 70, "{} fields", wanted.len());
}

#[test]
fn each_mapping_has_the_fields_that_the_parser_reads() {
    let (validator, schema, mut count) = (Validator::new(), json_schema(), 0);
    for file in [on_a_cluster(), on_this_machine()] {
        for pointer in
            all_pointers(&file).into_iter().filter(|pointer| file.pointer(pointer).unwrap().is_object())
        {
            let said = node(&schema, &file, &pointer);
            if said["additionalProperties"] != json!(false) {
                continue;
            }
            let mut mutated = file.clone();
            mutated.pointer_mut(&pointer).unwrap()["zzzzqqqq"] = json!(1);
            let faults = parsed(&mutated);
            let hint = faults
                .iter()
                .find(|fault| fault.message.ends_with("zzzzqqqq`"))
                .and_then(|fault| fault.hint.as_deref());
            let listed = hint.and_then(|hint| hint.strip_prefix("fields here: "));
            let read: BTreeSet<String> = listed
                .unwrap_or_else(|| panic!("{pointer}: {faults:?}"))
                .split(", ")
                .map(str::to_owned)
                .collect();
            assert_eq!(names(said["properties"].as_object()), read, "{pointer}");
            assert!(validator.faults(&mutated).is_some(), "{pointer}: a field that is unknown");
            count += 1;
        }
    }
    assert!(count > 25, "{count} mappings");
}

#[test]
fn each_field_of_words_has_the_words_that_the_parser_reads() {
    let (schema, mut count) = (json_schema(), 0);
    for file in [on_a_cluster(), on_this_machine()] {
        for pointer in all_pointers(&file) {
            let said = node(&schema, &file, &pointer);
            let of_words = |schema: &&Value| schema.get("enum").is_some();
            let either = || said["anyOf"].as_array().and_then(|forms| forms.iter().find(of_words));
            let words = match Some(said).filter(of_words).or_else(either) {
                Some(words) => words["enum"].as_array().unwrap().iter().filter_map(Value::as_str).collect(),
                None if said["pattern"] == "^(true|false)$" => BTreeSet::from(["true", "false"]),
                None => continue,
            };
            let mut mutated = file.clone();
            *mutated.pointer_mut(&pointer).unwrap() = json!("zzzzqqqq");
            let faults = parsed(&mutated);
            let found = faults.iter().find_map(|fault| fault.message.strip_suffix(", found `zzzzqqqq`"));
            let found = found.unwrap_or_else(|| panic!("{pointer}: {faults:?}"));
            // The kinds of keys are fields and words; the words are all that stands without a colon.
            let read: BTreeSet<&str> =
                match found.strip_prefix("expected one of cookie, header, query, jwt, ") {
                    Some(words) => words.split(", ").collect(),
                    None => found.split('`').skip(1).step_by(2).collect(),
                };
            assert_eq!(words, read, "{pointer}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} fields");
}

/// A fault of the form of a value, and not of what it says beside others.
fn is_of_form(message: &str) -> bool {
    let begins = [
        "unknown field",
        "expected a mapping",
        "expected a list",
        "expected a value",
        "expected a duration",
        "expected a percentage like",
        "expected a number like",
        "expected 1 to 63 of",
        "expected one of",
        "invalid socket address",
        "invalid digit",
    ];
    message.ends_with("is missing")
        || begins.iter().any(|begin| message.starts_with(begin))
        || message.contains("` or ")
}

/// What stands in the place of each value.
fn others() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(7),
        json!(0),
        json!(12.5),
        json!(-1),
        json!(1_000_000),
        json!("zzz"),
        json!("24h"),
        json!("Zz z"),
        json!("20%"),
        json!("v1"),
        json!("shop/shop"),
        json!("127.0.0.1:80"),
        json!("embedded"),
        json!("true"),
        json!([]),
        json!([[]]),
        json!({}),
        json!(["zzz"]),
        json!([null]),
        json!([{}]),
        json!({"zzz": 1}),
        json!({"zzz": null}),
        json!({"name": "shop"}),
    ]
}

#[test]
fn no_file_has_the_right_form_for_the_parser_and_the_wrong_one_for_the_schema_or_the_reverse() {
    let validator = Validator::new();
    let (mut taken, mut refused) = (0, 0);
    for file in [on_a_cluster(), on_this_machine()] {
        for pointer in all_pointers(&file).iter().filter(|pointer| !pointer.is_empty()) {
            for other in others() {
                let mut mutated = file.clone();
                mutated.pointer_mut(pointer).unwrap().clone_from(&other);
                let (faults, invalid) = (parsed(&mutated), validator.faults(&mutated));
                if faults.is_empty() {
                    assert_eq!(invalid, None, "the parser takes {other} at {pointer}");
                    taken += 1;
                } else if faults.iter().any(|fault| is_of_form(&fault.message)) {
                    assert!(
                        invalid.is_some(),
                        "the schema takes {other} at {pointer}, the parser says {faults:?}"
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 300 && refused > 2_000, "{taken} taken, {refused} refused");
}

#[test]
fn a_field_that_is_left_out_is_missing_for_both_or_for_neither() {
    let (validator, mut refused) = (Validator::new(), 0);
    for file in [on_a_cluster(), on_this_machine()] {
        for pointer in all_pointers(&file).iter().filter(|pointer| !pointer.is_empty()) {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let mut mutated = file.clone();
            let Some(fields) = mutated.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
            fields.remove(name);
            let (faults, invalid) = (parsed(&mutated), validator.faults(&mutated));
            let is_missing = faults.iter().any(|fault| is_of_form(&fault.message));
            assert_eq!(is_missing, invalid.is_some(), "{pointer}: {faults:?}, {invalid:?}");
            refused += usize::from(is_missing);
        }
    }
    assert!(refused > 20, "{refused} fields are required");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The releases of the repository: examples, fixtures, and what `init` writes.
fn files() -> Vec<PathBuf> {
    let read =
        |folder: &str| std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let examples = read("examples").map(|folder| folder.join("canary.yaml"));
    let written = read("ctl/tests/golden")
        .filter(|path| ["init-claim.yaml", "init-local.yaml"].iter().any(|name| path.ends_with(name)));
    examples.chain(written).chain(read("ctl/tests/fixtures")).filter(|path| path.exists()).collect()
}

#[test]
fn every_example_is_valid() {
    let (validator, files) = (Validator::new(), files());
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        file::parse(&path, &text).unwrap_or_else(|error| panic!("{error}"));
        let file: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(validator.faults(&file), None, "{}", path.display());
    }
}
