//! Images in a registry that works.

use crate::fake_registry::{Auth, FakeRegistry, Fault, digest};
use crate::{ModuleFixture, image};

/// The `delivery.module` that a push printed.
fn printed(stdout: &str) -> &str {
    stdout.lines().find_map(|line| line.strip_prefix("delivery.module: ")).unwrap()
}

#[test]
fn a_pushed_image_is_the_one_that_verify_finds() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::None));
    let target = image(&registry);
    let missing =
        format!("error: expected an image at {target}, found none\n  hint: `canary-ctl module push`");
    fixture.run(&format!("verify {target}")).expect(2, &[&missing]);
    let ran = fixture.run(&format!("push {target}"));
    let manifest = registry.manifest("1.0").unwrap();
    let by_digest = format!("oci://{}/canary/filter@{}", registry.address, digest(&manifest));
    ran.expect(0, &[&format!("{target} pushed: {}", digest(&manifest)), ") sent\n"]);
    assert_eq!(printed(&ran.stdout), by_digest);
    for target in [&target, &by_digest] {
        let same = format!("{target}: the module of this tool, {}", digest(&fixture.module()));
        fixture.run(&format!("verify {target}")).expect(0, &[&same, &digest(&manifest)]);
    }
    // Until the tag is set, nobody sees any of it.
    let writes: Vec<String> =
        registry.requests().into_iter().filter(|line| line.starts_with("PUT")).collect();
    assert!(writes.last().unwrap().ends_with("/manifests/1.0") && writes.len() == 4, "{writes:#?}");
}

#[test]
fn without_a_tag_both_mean_the_one_of_this_module() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::None));
    let target = format!("oci://{}/canary/filter", registry.address);
    let tag: String = digest(&fixture.module())["sha256:".len()..].chars().take(12).collect();
    let missing = format!("expected an image at {target}:{tag}, found none");
    fixture.run(&format!("verify {target}")).expect(2, &[&missing]);
    fixture.run(&format!("push {target}")).expect(0, &[&format!("{target}:{tag} pushed")]);
    fixture.run(&format!("verify {target}")).expect(0, &["the module of this tool"]);
}

#[test]
fn a_second_push_sends_nothing_and_a_tag_of_another_image_stays() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::None));
    let target = image(&registry);
    let first = fixture.run(&format!("push {target}"));
    let count = registry.requests().len();
    let second = fixture.run(&format!("push {target}"));
    second.expect(0, &[&format!("{target} is there already")]);
    assert_eq!(printed(&second.stdout), printed(&first.stdout));
    let again = registry.requests().split_off(count);
    assert!(again.iter().all(|line| line.starts_with("GET") || line.starts_with("HEAD")), "{again:#?}");

    registry.keep_manifest("1.0", "theirs");
    let taken = format!("error: expected no image or this one at {target}, found {}", digest(b"theirs"));
    fixture.run(&format!("push {target}")).expect(2, &[&taken, "hint: give another tag, or `--force`"]);
    assert_eq!(registry.manifest("1.0").unwrap(), b"theirs");
    fixture.run(&format!("push {target} --force")).expect(0, &[&format!("{target} pushed")]);
    assert_ne!(registry.manifest("1.0").unwrap(), b"theirs");
}

#[test]
fn a_dry_run_asks_no_registry_and_has_the_digest_of_the_push() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Basic, Fault::None));
    let target = format!("oci://{}/canary/filter", registry.address);
    let ran = fixture.run(&format!("push {target} --dry-run"));
    let tag: String = digest(&fixture.module())["sha256:".len()..].chars().take(12).collect();
    ran.expect(
        0,
        &[&format!("{target}:{tag} would be pushed: sha256:"), ") would be sent, unless it is there\n"],
    );
    assert_eq!(registry.requests(), Vec::<String>::new());
    let elsewhere = fixture.run("push oci://registry.test/canary/filter:other --dry-run");
    let digest_of = |text: &str| printed(text).split('@').nth(1).unwrap().to_owned();
    assert_eq!(digest_of(&elsewhere.stdout), digest_of(&ran.stdout));
}

#[test]
fn an_address_that_no_registry_takes_is_refused() {
    let fixture = ModuleFixture::new();
    fixture.run("push registry.test/canary/filter").expect(2, &["expected `oci://HOST/REPOSITORY[:TAG]`"]);
    let by_digest = format!("push oci://registry.test/canary/filter@sha256:{}", "0".repeat(64));
    fixture.run(&by_digest).expect(2, &["expected a tag or none, found a digest"]);
}

#[test]
fn an_image_of_something_else_is_compared_or_named() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::None));
    let target = image(&registry);
    let layer = |kind: &str| {
        format!(r#"{{"mediaType": "{kind}", "digest": "sha256:{}", "size": 7}}"#, "0".repeat(64))
    };
    let (about, module) = (
        layer("application/vnd.module.wasm.config.v1+json"),
        layer("application/vnd.module.wasm.content.layer.v1+wasm"),
    );
    registry.keep_manifest("1.0", &format!(r#"{{"layers": [{about}, {module}]}}"#));
    let other = format!("  found    sha256:{} (7 bytes)\n  image    sha256:", "0".repeat(64));
    fixture.run(&format!("verify {target}")).expect(1, &["another module than that of this tool", &other]);
    for (manifest, expected) in [
        (format!(r#"{{"layers": [{module}]}}"#), "expected two layers, one of them"),
        (r#"{"manifests": [{}]}"#.to_owned(), "found a list of 1 images for several platforms"),
        ("<html>".to_owned(), "expected the manifest of an image, found other data"),
        (format!(r#"{{"layers": [{}]}}"#, layer("x\\u001b[2J")), "found 1: x\\u{1b}[2J"),
    ] {
        registry.keep_manifest("1.0", &manifest);
        let ran = fixture.run(&format!("verify {target}"));
        ran.expect(2, &[&format!("error: {target}: "), expected]);
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    }
}
