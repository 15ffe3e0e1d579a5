//! The golden vectors: the same users in Rust, in Python, and in whatever re-implements the algorithm next.

#![expect(
    clippy::unwrap_used,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

use assignment::identity::IdentityKey;
use assignment::{Identity, Salt, Weight};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

const VECTORS: &str = include_str!("../vectors.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    key_hex: String,
    salt: String,
    identity_key_hex: Option<String>,
    identity: String,
    bucket: u16,
    weight: Weight,
    canary: bool,
}

impl Vector {
    fn identity(&self) -> Identity {
        let key = bytes(&self.key_hex);
        match &self.identity_key_hex {
            Some(secret) => Identity::of_key_with(&IdentityKey::new(&bytes(secret)), &key),
            None => Identity::of_key(&key),
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0, "{hex}");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(VECTORS).unwrap()
}

#[test]
fn every_vector_holds() {
    for vector in vectors() {
        let identity = vector.identity();
        let bucket = Salt::new(&vector.salt).bucket(identity);
        assert_eq!(identity.to_string(), vector.identity, "{vector:?}");
        assert_eq!(bucket.number(), vector.bucket, "{vector:?}");
        assert_eq!(bucket.is_canary_at(vector.weight), vector.canary, "{vector:?}");
    }
}

#[test]
fn the_vectors_cover_what_they_must() {
    let vectors = vectors();
    assert!(vectors.len() >= 300, "{}", vectors.len());
    for keyed in [false, true] {
        let of_mode = || vectors.iter().filter(|vector| vector.identity_key_hex.is_some() == keyed);
        for length in (0..=40).chain([4096]) {
            assert!(of_mode().any(|vector| vector.key_hex.len() == 2 * length), "{length} bytes");
        }
        for weight in [0, 1, 2_500, 9_999, 10_000] {
            assert!(of_mode().any(|vector| vector.weight.basis_points() == weight), "weight {weight}");
        }
        let is_no_text = |hex: &str| std::str::from_utf8(&bytes(hex)).is_err();
        assert!(of_mode().any(|vector| is_no_text(&vector.key_hex)), "keyed {keyed}: no key that is no text");
        for canary in [false, true] {
            assert!(of_mode().any(|vector| vector.canary == canary), "keyed {keyed}: no canary {canary}");
        }
    }
}

/// Without Python this fails: a second implementation that is not asked proves nothing.
#[test]
fn a_second_implementation_in_python_gives_the_same_vectors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let made = Command::new(root.join("tools/python.sh")).output().unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "tools/python.sh: {said}\nhint: install python3 and python3-venv");
    let python = String::from_utf8(made.stdout).unwrap();
    let script = root.join("assignment/vectors.py");
    let check = Command::new(python.trim()).arg(&script).arg("--check").output().unwrap();
    let said = String::from_utf8_lossy(&check.stderr);
    assert!(
        check.status.success(),
        "{said}\nhint: after a wanted change run: {} {}",
        python.trim(),
        script.display()
    );
}

#[test]
fn the_example_of_the_concepts_is_a_vector() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/concepts.md")).unwrap();
    let line = page.lines().find(|line| line.contains("──hash──►")).unwrap();
    let (key, salt) = ("4b1d7c0e5f", "shop/web/v2");
    let user = Identity::of_key(key.as_bytes());
    let bucket = Salt::new(salt).bucket(user).number();
    let bucket = format!("{},{:03}", bucket / 1000, bucket % 1000);
    for part in [
        format!("={key} "),
        format!("identity {user} "),
        format!("salt {salt}──"),
        format!("bucket {bucket} "),
    ] {
        assert!(line.contains(&part), "expected '{part}', found: {line}");
    }
}
