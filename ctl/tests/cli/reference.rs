//! The reference of the docs is that of the tool: each verb by its `--help`, each field of `canary.yaml` by the schema.

use crate::cli_fixture::{CliFixture, repository};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const WRITTEN: &str =
    "<!-- Written by `UPDATE_GOLDEN=1 cargo test --workspace --locked --test cli`; do not edit. -->";

/// Compares a page with what is expected of it, or writes it.
fn page(name: &str, expected: &str) {
    let path = repository(&format!("docs/reference/{name}"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == expected, "docs/reference/{name} differs from the tool: {WRITTEN}");
}

#[test]
fn the_reference_has_every_verb_as_its_help() {
    let cli = CliFixture::new();
    let mut text = format!("# Commands\n\n{WRITTEN}\n\nThe output of `--help` of each command.\n");
    for command in cli.run("man --list").stdout.lines() {
        let words = command.strip_prefix("canary-ctl").unwrap();
        let help = cli.run(&format!("{words} --help"));
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{command}");
        let _ = write!(text, "\n## {command}\n\n```text\n{}\n```\n", help.stdout.trim_end());
    }
    page("commands.md", &text);
}

#[test]
fn the_reference_has_every_field_as_the_schema_has_it() {
    let schema: Value = serde_json::from_str(&CliFixture::new().run("schema").stdout).unwrap();
    let mut rows = Vec::new();
    fields(&schema, "", &mut rows);
    assert!(rows.len() > 50, "found {} fields", rows.len());
    let paths: BTreeSet<&str> = rows.iter().filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(paths.len(), rows.len(), "each field has one row: {rows:#?}");
    let head = format!(
        "# Fields of canary.yaml\n\n{WRITTEN}\n\n\
        [The same as a JSON Schema](../canary.schema.json), for editors: `canary-ctl init --schema` writes it beside the file.\n\
        [The same as a CustomResourceDefinition](../crd.yaml), for a cluster: `canary-ctl generate crd` prints it. There a text is in quotes where YAML \
        takes it for something else (`\"1.10\"`, `\"off\"`), and numbers are not.\n\n\
        * `[]` stands for each item of a list, `NAME` for a name that you choose.\n\
        * A share is in percent (`20`, `12.5%`), a duration in days, hours, minutes and seconds (`1d12h`, `90s`).\n\n\
        | field | meaning | words |\n| --- | --- | --- |\n"
    );
    page("canary-yaml.md", &(head + &rows.concat()));
}

/// Adds a row for each field of an object, and for those below it.
fn fields(schema: &Value, prefix: &str, rows: &mut Vec<String>) {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let meaning = field["description"].as_str().unwrap_or_default();
        let must = match alternatives(schema) {
            _ if required(name) => " **Required.**".to_owned(),
            names if names.contains(&name.as_str()) => {
                format!(" **Exactly one of** `{}`.", names.join("`, `"))
            }
            _ => String::new(),
        };
        rows.push(format!("| `{path}` | {}{must} | {} |\n", meaning.replace('|', "\\|"), words(field)));
        below(field, &path, rows);
    }
}

/// The fields of an object of which exactly one is given: each alternative requires one.
fn alternatives(schema: &Value) -> Vec<&str> {
    let forms = schema["oneOf"].as_array().into_iter().flatten();
    forms.filter_map(|form| form["required"].as_array()?.first()?.as_str()).collect()
}

/// Adds the rows of what a field contains, in whichever form it may be written.
fn below(field: &Value, path: &str, rows: &mut Vec<String>) {
    fields(field, &format!("{path}."), rows);
    let has = |name: &String| field["properties"].get(name).is_some();
    let is_new = |form: &&Value| !form["properties"].as_object().is_some_and(|new| new.keys().all(has));
    let forms = ["anyOf", "oneOf"].iter().filter_map(|form| field[form].as_array()).flatten();
    for form in forms.filter(is_new) {
        below(form, path, rows);
    }
    if field["items"].is_object() {
        below(&field["items"], &format!("{path}[]"), rows);
    }
    if field["additionalProperties"].is_object() {
        below(&field["additionalProperties"], &format!("{path}.NAME"), rows);
    }
}

/// The words that a field may be, if it may not be any text.
fn words(field: &Value) -> String {
    let given = field["enum"]
        .as_array()
        .cloned()
        .unwrap_or_else(|| field.get("const").cloned().into_iter().collect());
    let words: Vec<String> = given.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
