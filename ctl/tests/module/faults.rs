//! Registries and web servers that lose, lie and redirect.

use crate::fake_registry::{Auth, FakeRegistry, Fault, digest};
use crate::{ModuleFixture, image};
use std::net::SocketAddr;

/// A registry with the image in it, and a fixture that is logged in there.
fn pushed() -> (ModuleFixture, FakeRegistry) {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Basic, Fault::None));
    let ran = fixture.run_with_stdin(&format!("push {} --username user", image(&registry)), "secret");
    assert_eq!(ran.code, 0, "{ran:?}");
    (fixture, registry)
}

fn verify(fixture: &ModuleFixture, registry: &FakeRegistry) -> crate::CallOutput {
    fixture.run_with_stdin(&format!("verify {} --username user", image(registry)), "secret")
}

#[test]
fn what_is_lost_or_changed_on_the_way_is_no_module() {
    let (fixture, registry) = pushed();
    let module = fixture.module();
    let (size, other) = (module.len(), digest(&vec![0; module.len()]));
    for (fault, parts) in [
        (
            Fault::OtherBlob,
            vec![format!("expected {} ({size} bytes), found {other} ({size} bytes)", digest(&module))],
        ),
        (
            Fault::HalfABlob,
            vec!["error: no whole response from http://".to_owned(), "end of file".to_owned()],
        ),
        (
            Fault::EndlessManifest,
            vec!["expected a body of at most 16777216 bytes, found a larger one".to_owned()],
        ),
        (Fault::Circle, vec!["expected at most 5 redirects, found more".to_owned()]),
    ] {
        let ran = verify(&fixture, &registry.with_fault(fault));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        ran.expect(2, &parts);
        assert_eq!(ran.stdout, "", "{fault:?}");
    }
}

#[test]
fn a_redirect_is_followed_without_the_credentials() {
    let (fixture, registry) = pushed();
    let storage = FakeRegistry::start(Auth::Nobody, Fault::None);
    let moved = registry.with_fault(Fault::BlobsAt(storage.address));
    verify(&fixture, &moved).expect(2, &["expected 200, found 404"]);
    let open = FakeRegistry::start(Auth::Nobody, Fault::None);
    fixture.run(&format!("push {}", image(&open))).expect(0, &[]);
    verify(&fixture, &registry.with_fault(Fault::BlobsAt(open.address)))
        .expect(0, &["the module of this tool"]);
    for other in [&storage, &open] {
        assert!(!other.requests().is_empty(), "the redirect was followed");
        assert_eq!(other.authorizations(), Vec::<String>::new());
    }
    assert!(!moved.authorizations().is_empty(), "the registry itself knows who it is");
}

#[test]
fn an_upload_that_fails_or_would_go_elsewhere_sets_no_tag() {
    let elsewhere = FakeRegistry::start(Auth::Nobody, Fault::None);
    for (fault, expected) in [
        (
            Fault::UploadsAt(elsewhere.address),
            format!("found http://{}: credentials are sent to no other host", elsewhere.address),
        ),
        (Fault::LosesUploads, "expected 201, found 503".to_owned()),
    ] {
        let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Basic, fault));
        let ran = fixture.run_with_stdin(&format!("push {} --username user", image(&registry)), "secret");
        ran.expect(2, &[&expected]);
        assert_eq!((ran.stdout.as_str(), registry.manifest("1.0")), ("", None), "{fault:?}");
    }
    assert_eq!(elsewhere.requests(), Vec::<String>::new());
}

#[test]
fn a_manifest_that_the_registry_changes_is_an_error() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::OtherManifest));
    let ran = fixture.run(&format!("push {}", image(&registry)));
    ran.expect(2, &["the manifest at http://", &format!("found {}", digest(b"{}"))]);
}

#[test]
fn a_registry_that_is_not_there_is_an_error_with_a_hint() {
    let nobody: SocketAddr = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = ModuleFixture::new().run(&format!("push oci://{nobody}/canary/filter"));
    ran.expect(
        2,
        &[
            &format!("error: no whole response from http://{nobody}/v2/"),
            "Connection refused",
            "hint: is the address right?",
        ],
    );
}

#[test]
fn a_file_of_a_web_server_is_compared_over_redirects_and_within_limits() {
    let (fixture, registry) = (ModuleFixture::new(), FakeRegistry::start(Auth::Nobody, Fault::None));
    fixture.run(&format!("push {}", image(&registry))).expect(0, &[]);
    let module = fixture.module();
    let url = |registry: &FakeRegistry| {
        format!("http://{}/v2/canary/filter/blobs/{}", registry.address, digest(&module))
    };
    fixture.run(&format!("verify {}", url(&registry))).expect(0, &["the module of this tool"]);
    let moved = registry.with_fault(Fault::BlobsAt(registry.address));
    fixture.run(&format!("verify {}", url(&moved))).expect(0, &["the module of this tool"]);
    let other = registry.with_fault(Fault::OtherBlob);
    fixture
        .run(&format!("verify {}", url(&other)))
        .expect(1, &["another module than that of this tool", "  found    sha256:"]);
    let endless = registry.with_fault(Fault::EndlessManifest);
    let large = format!("verify http://{}/v2/canary/filter/manifests/1.0", endless.address);
    fixture.run(&large).expect(2, &["expected a body of at most 16777216 bytes, found a larger one"]);
    let with_password = fixture.run(&format!("verify http://user:secret@{}/none", registry.address));
    with_password.expect(2, &["expected an address without a user"]);
    assert!(!with_password.stderr.contains("secret"), "{with_password:?}");
    fixture.run(&format!("verify http://{}/none", registry.address)).expect(2, &["expected 200, found 404"]);
}
