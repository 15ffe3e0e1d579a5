//! `explain` as a process: what it prints, and with which exit code.

mod local_release;

use assignment::{Identity, Salt};
use local_release::{Directory, json, stderr, stdout};
use serde_json::Value;

#[test]
fn a_request_by_arguments_and_one_by_curl_are_explained_alike() {
    let directory = Directory::generated("off");
    let by_arguments =
        directory.run(&["explain", "--cookie", "JSESSIONID=4b1d", "--path", "/cart", "-o", "json"]);
    let curl = "curl 'https://shop.example.com/cart' \\\n -b 'JSESSIONID=4b1d' --compressed";
    let by_curl = directory.run(&["explain", "--curl", curl, "-o", "json"]);
    let (left, right) = (json(&by_arguments), json(&by_curl));
    assert_eq!(left, right);
    assert_eq!(left["row"], 6);
    let bucket = Salt::new("shop/shop/v2").bucket(Identity::of_key(b"4b1d"));
    assert_eq!(left["bucket"], bucket.number());
    assert_eq!(by_arguments.status.code(), Some(0));
}

#[test]
fn another_weight_is_a_what_if_and_changes_nothing() {
    let directory = Directory::generated("off");
    let version = |weight: &[&str]| {
        let arguments = [&["explain", "--cookie", "JSESSIONID=4b1d", "-o", "json"], weight].concat();
        let report = json(&directory.run(&arguments));
        report["version"].as_str().map(str::to_owned)
    };
    assert_eq!(version(&["--weight", "100"]).as_deref(), Some("v2"));
    assert_eq!(version(&["--weight", "0"]).as_deref(), Some("v1"));
    let state = std::fs::read_to_string(directory.path().join("state/state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["releases"]["shop/shop"]["state"]["weight"], 2_000);
}

#[test]
fn before_anything_was_generated_the_file_speaks_and_missing_keys_are_said() {
    let directory = Directory::written("token");
    let explained = directory.run(&["explain", "-H", "Sec-Fetch-Mode: navigate"]);
    let text = stdout(&explained);
    assert!(text.contains("version   v2 with 20.00%, v1 with 80.00%"), "{text}{}", stderr(&explained));
    assert!(text.contains("no signing keys are known here"), "{text}");
}

#[test]
fn a_host_of_no_release_is_a_no_and_a_broken_command_an_error() {
    let directory = Directory::written("off");
    let no = directory.run(&["explain", "--host", "other.example.com"]);
    assert_eq!(no.status.code(), Some(1));
    assert!(stdout(&no).contains("no release matches"), "{}", stdout(&no));
    let wrong = directory.run(&["explain", "--curl", "curl 'https://shop.example.com"]);
    assert_eq!((wrong.status.code(), stdout(&wrong)), (Some(2), String::new()));
    let text = stderr(&wrong);
    assert!(
        text.starts_with("error: expected a closing `'`") && text.contains("hint: copy the whole command"),
        "{text}"
    );
}

#[test]
fn help_has_examples() {
    let directory = Directory::written("off");
    for verb in [["explain", "--help"], ["simulate", "--help"], ["verify", "--help"]] {
        let help = directory.run(&verb);
        assert!(
            help.status.success() && stdout(&help).contains("Examples:\n  canary-ctl"),
            "{}",
            stdout(&help)
        );
    }
}
