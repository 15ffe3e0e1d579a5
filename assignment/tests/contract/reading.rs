//! Reading and writing: nothing is lost, newer optional fields pass where they should, secrets stay secret.

use crate::config::{full, read, read_strictly, with};
use assignment::contract::ContractError;
use assignment::{FilterConfig, Policy};
use serde_json::{Value, json};

/// Objects of every kind, as pointers into [`full`].
const OBJECTS: [&str; 12] = [
    "",
    "/headers",
    "/idCookie",
    "/keys/0",
    "/releases/shop~1web",
    "/releases/shop~1web/until",
    "/releases/shop~1web/versions/1",
    "/releases/shop~1web/gone/0",
    "/releases/shop~1web/pin",
    "/releases/shop~1web/pin/cookie",
    "/releases/shop~1web/override/token",
    "/releases/shop~1web/identifyBy/5/jwt",
];

#[test]
fn what_is_written_is_read_back() {
    for config in [read_strictly(&full()).unwrap(), FilterConfig::empty()] {
        let json = config.to_json().unwrap();
        assert_eq!(FilterConfig::from_json(json.as_bytes()).unwrap(), config);
        assert_eq!(FilterConfig::from_json_strict(json.as_bytes()).unwrap(), config);
    }
}

#[test]
fn no_field_of_the_document_is_dropped() {
    let written: Value = serde_json::from_str(&read_strictly(&full()).unwrap().to_json().unwrap()).unwrap();
    assert_eq!(written, full());
}

#[test]
fn the_full_document_can_be_put_in_force() {
    Policy::compile(&read(&full()).unwrap()).unwrap();
}

#[test]
fn the_filter_passes_over_optional_fields_of_a_newer_writer() {
    for object in OBJECTS {
        let newer = with(&format!("{object}/newerField"), json!({"any": ["thing"]}));
        assert_eq!(read(&newer).unwrap(), read(&full()).unwrap(), "{object}");
    }
}

#[test]
fn the_tool_refuses_an_unknown_field_and_names_its_place() {
    for object in OBJECTS {
        let error = read_strictly(&with(&format!("{object}/wieght"), json!(1))).unwrap_err();
        let ContractError::UnknownField { place } = &error else {
            panic!("{object}: {error}");
        };
        assert_eq!(place.replace(['[', ']'], "."), expected_place(object), "{object}");
        assert_ne!(error.hint(), None, "{error}");
    }
}

/// `/a~1b/0/c` with the field as a person reads it, brackets as dots.
fn expected_place(object: &str) -> String {
    let parts = object.split('/').skip(1).map(|part| part.replace("~1", "/"));
    let steps = parts.map(|part| match part.parse::<usize>() {
        Ok(index) => format!("\0{index}."),
        Err(_) => part,
    });
    let path = steps.chain(["wieght".to_owned()]).collect::<Vec<_>>().join(".");
    path.replace(".\0", ".")
}

#[test]
fn another_major_format_is_refused_by_both_and_said_first() {
    for reader in [read, read_strictly] {
        let error = reader(&json!({"format": 2, "position": "elsewhere", "unheardOf": 1})).unwrap_err();
        assert!(matches!(error, ContractError::Format { .. }), "{error}");
        assert_eq!(error.to_string(), "expected configuration format 1, found 2");
        assert_ne!(error.hint(), None, "{error}");
    }
}

#[test]
fn what_is_no_configuration_is_refused_without_a_panic() {
    for text in
        ["", "null", "[]", "1", "\"text\"", "{", "{}", "{\"format\":\"1\"}", "{\"format\":1,\"releases\":[]}"]
    {
        assert!(FilterConfig::from_json(text.as_bytes()).is_err(), "{text}");
    }
    FilterConfig::from_json(b"{\"format\":1,\"debugHeader\":\"\xff\"}").unwrap_err();
}

#[test]
fn no_secret_is_printed() {
    let config = read(&full()).unwrap();
    let (secret, policy) = ("0123456789abcdef", Policy::compile(&config).unwrap());
    for text in [format!("{config:?}"), format!("{config:#?}"), format!("{policy:?}")] {
        assert!(
            !text.contains(secret) && !text.contains("MDEyMzQ1Njc4") && !text.contains("48, 49, 50"),
            "{text}"
        );
    }
    let printed = format!("{config:?}");
    assert!(printed.contains("redacted"), "{printed}");
    let broken = read(&with("/keys/0/key", json!("not hex: s3cret"))).unwrap_err();
    assert!(!format!("{broken:?} {broken}").contains("s3cret"), "{broken}");
}
