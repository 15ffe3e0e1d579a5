//! Whom the tool is at a registry, and who learns it.

use crate::fake_registry::{Auth, FakeRegistry, Fault, IDENTITY_TOKEN};
use crate::{ModuleFixture, image};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

/// A fixture with this configuration of Docker; `HOST` stands for the registry, and `user:secret` is the login.
fn logged_in(registry: &FakeRegistry, config: &str) -> ModuleFixture {
    let fixture = ModuleFixture::new();
    fixture.write("home/.docker/config.json", &config.replace("HOST", &registry.address.to_string()));
    fixture
}

/// A credential helper that prints this for the registry's name on stdin.
fn helper(fixture: &ModuleFixture, name: &str, script: &str) {
    let path = format!("helpers/docker-credential-{name}");
    fixture.write(&path, &format!("#!/bin/sh\nread server\n{script}\n"));
    std::fs::set_permissions(fixture.path(&path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

const AUTHS: &str = r#"{"auths": {"HOST": {"auth": "dXNlcjpzZWNyZXQ="}}}"#;
const HELPERS: &str = r#"{"credHelpers": {"HOST": "of-the-test"}}"#;
const STORE: &str = r#"{"auths": {"HOST": {}}, "credsStore": "of-the-test"}"#;

#[test]
fn a_login_of_docker_opens_registries_with_passwords_and_with_tokens() {
    for auth in [Auth::Basic, Auth::Bearer] {
        for config in [AUTHS, HELPERS, STORE] {
            let registry = FakeRegistry::start(auth, Fault::None);
            let fixture = logged_in(&registry, config);
            let script = format!(
                r#"[ "$server" = {} ] && echo '{{"Username": "user", "Secret": "secret"}}'"#,
                registry.address
            );
            helper(&fixture, "of-the-test", &script);
            for verb in ["push", "verify"] {
                let ran = fixture.run(&format!("{verb} {}", image(&registry)));
                assert_eq!(ran.code, 0, "{auth:?} {config}: {ran:?}");
            }
        }
    }
}

#[test]
fn an_identity_token_buys_a_token_and_is_no_password() {
    let registry = FakeRegistry::start(Auth::Bearer, Fault::None);
    let config = format!(r#"{{"auths": {{"HOST": {{"identitytoken": "{IDENTITY_TOKEN}"}}}}}}"#);
    let fixture = logged_in(&registry, &config);
    fixture.run(&format!("push {}", image(&registry))).expect(0, &["delivery.module: "]);
    let registry = FakeRegistry::start(Auth::Basic, Fault::None);
    let fixture = logged_in(&registry, &config);
    let expected =
        "asks for authentication by `Basic`, expected a name and a password, found an identity token";
    fixture.run(&format!("push {}", image(&registry))).expect(2, &[expected]);
}

#[test]
fn a_name_with_the_password_on_stdin_comes_before_docker_s_login() {
    let registry = FakeRegistry::start(Auth::Basic, Fault::None);
    let fixture = logged_in(&registry, r#"{"credHelpers": {"HOST": "missing"}}"#);
    let line = format!("push {} --username user", image(&registry));
    fixture.run_with_stdin(&line, "secret\n").expect(0, &["delivery.module: "]);
    fixture.run_with_stdin(&line, "\n").expect(2, &["expected the password on stdin, found nothing"]);
    fixture
        .run(&format!("push {}", image(&registry)))
        .expect(2, &["the credential helper that ", "it cannot be run"]);
}

#[test]
fn nobody_and_the_wrong_person_are_told_apart_and_no_secret_is_printed() {
    for auth in [Auth::Basic, Auth::Bearer] {
        let registry = FakeRegistry::start(auth, Fault::None);
        let line = format!("push {}", image(&registry));
        let none = format!("error: {} asks for credentials, found none: UNAUTHORIZED ", registry.address);
        ModuleFixture::new().run(&line).expect(2, &[&none, "hint: `docker login HOST`"]);
        let ran = ModuleFixture::new().run_with_stdin(&format!("{line} --username user"), "wrong-secret");
        ran.expect(2, &["refuses the credentials (401): UNAUTHORIZED "]);
        assert!(!format!("{ran:?}").contains("wrong-secret"), "{ran:?}");
        assert_eq!(registry.manifest("1.0"), None);
    }
    let registry = FakeRegistry::start(Auth::ReadOnly, Fault::None);
    let denied = "refuses the credentials (403): DENIED this repository is read-only";
    ModuleFixture::new().run(&format!("push {}", image(&registry))).expect(2, &[denied]);
    let registry = FakeRegistry::start(Auth::Negotiate, Fault::None);
    let unknown = "asks for authentication by `Negotiate`, expected Basic or Bearer";
    ModuleFixture::new().run(&format!("push {}", image(&registry))).expect(2, &[unknown]);
}

#[test]
fn a_helper_without_a_login_is_none_and_one_that_fails_is_an_error() {
    for (script, expected) in [
        ("echo 'credentials not found in native keychain'; exit 1", "asks for credentials, found none"),
        ("echo 'the keychain is locked' >&2; exit 1", "failed: the keychain is locked"),
        ("echo '<html>'", "failed: expected JSON with `Username` and `Secret`, found other data"),
    ] {
        let registry = FakeRegistry::start(Auth::Basic, Fault::None);
        let fixture = logged_in(&registry, HELPERS);
        helper(&fixture, "of-the-test", script);
        fixture.run(&format!("push {}", image(&registry))).expect(2, &[expected]);
    }
}

#[test]
fn without_tls_a_registry_is_used_on_this_machine_or_where_that_was_asked_for() {
    let registry = FakeRegistry::start(Auth::Basic, Fault::None);
    // The address of every interface leads to this machine, and is not known as one of it.
    let target = format!("oci://0.0.0.0:{}/canary/filter:1.0", registry.address.port());
    let fixture = ModuleFixture::new();
    let line = format!("push {target} --username user");
    let refused = "error: no whole response from https://0.0.0.0:";
    fixture.run_with_stdin(&line, "secret").expect(2, &[refused, "needs `--plain-http`"]);
    assert_eq!(registry.authorizations(), Vec::<String>::new(), "nothing is sent without TLS");
    fixture.run_with_stdin(&format!("{line} --plain-http"), "secret").expect(0, &["delivery.module: "]);
}

/// A registry whose server of tokens is another server at this address; the registry is called by `host`.
fn with_token_server(host: &str, tokens_at: &str, flag: &str) -> (crate::CallOutput, FakeRegistry) {
    let tokens = FakeRegistry::start(Auth::Bearer, Fault::None);
    let address: SocketAddr = format!("{tokens_at}:{}", tokens.address.port()).parse().unwrap();
    let registry = FakeRegistry::start(Auth::Bearer, Fault::TokensAt(address));
    let line =
        format!("push oci://{host}:{}/canary/filter:1.0 --username user {flag}", registry.address.port());
    (ModuleFixture::new().run_with_stdin(line.trim_end(), "secret"), tokens)
}

#[test]
fn a_password_goes_to_no_other_host_without_tls() {
    // `0.0.0.0` leads to this machine, and is not known as one of it.
    for (registry, tokens, flag) in [
        ("127.0.0.1", "0.0.0.0", ""),
        ("localhost", "0.0.0.0", ""),
        ("127.0.0.1", "0.0.0.0", "--plain-http"),
        ("0.0.0.0", "127.0.0.1", "--plain-http"),
    ] {
        let (ran, other) = with_token_server(registry, tokens, flag);
        let expected = format!("expected a server of tokens with TLS, found `http://{tokens}:");
        ran.expect(2, &[&expected, "hint: "]);
        assert_eq!(other.requests(), Vec::<String>::new(), "{registry} {tokens} {flag}");
    }
}

#[test]
fn a_password_goes_without_tls_to_a_token_server_of_this_machine_or_of_the_host_that_was_allowed() {
    for (registry, tokens, flag) in [
        ("127.0.0.1", "127.0.0.1", ""),
        ("localhost", "127.0.0.1", ""),
        ("0.0.0.0", "0.0.0.0", "--plain-http"),
    ] {
        let (ran, other) = with_token_server(registry, tokens, flag);
        ran.expect(0, &["delivery.module: "]);
        assert!(!other.authorizations().is_empty(), "{registry} {tokens} {flag}");
    }
}

#[test]
fn what_a_registry_repeats_of_a_login_is_not_printed() {
    for (auth, said) in [
        (Auth::Basic, "expected 200 or 404, found 500: UNKNOWN who is Basic "),
        (Auth::Bearer, "refuses the credentials (403): UNKNOWN who is Bearer (redacted)?"),
    ] {
        let registry = FakeRegistry::start(auth, Fault::Repeats);
        let ran = ModuleFixture::new()
            .run_with_stdin(&format!("verify {} --username user", image(&registry)), "secret");
        ran.expect(2, &[said, "(redacted)"]);
        for secret in ["secret", "c2VjcmV0", "zZWNyZX", "token-of-the-test"] {
            assert!(!format!("{ran:?}").contains(secret), "{secret}: {ran:?}");
        }
    }
}
