//! `verify` against systems that keep the release's promises, and against systems that break them one by one.

#![expect(clippy::unwrap_used, reason = "a panic is a test's failure, in its helpers too")]

mod verify_system;

use canary_ctl::verify::{Client, Expected, Size, Verdict, VerifyReport, VersionSource, verify};
use serde_json::{Value, json};
use std::process::{Command, Output};
use verify_system::{Fault, KEY, UID, config, now, policy, start, start_tls};

const SIZE: Size = Size { users: 300, requests: 3, concurrency: 8 };

async fn verified(config: &Value, expected: &Value, fault: Fault, has_keys: bool) -> VerifyReport {
    let address = start(policy(config), fault).await;
    let url = format!("http://{address}/");
    let client = Client::new(&url, None, VersionSource::Header("x-shop-version".to_owned())).unwrap();
    let expected = Expected::new(policy(expected), has_keys, now()).unwrap();
    verify(client, &url.parse().unwrap(), &expected, SIZE, || {}).await.unwrap()
}

async fn faulty(fault: Fault) -> VerifyReport {
    let config = config("session", 2_000);
    verified(&config, &config, fault, true).await
}

/// The names of the checks with this verdict.
fn named(report: &VerifyReport, verdict: Verdict) -> Vec<&str> {
    report.checks.iter().filter(|check| check.verdict == verdict).map(|check| check.name.as_str()).collect()
}

fn detail<'r>(report: &'r VerifyReport, name: &str) -> &'r str {
    report.checks.iter().find(|check| check.name == name).map_or("", |check| check.detail.as_str())
}

#[tokio::test]
async fn a_system_that_keeps_its_promises_passes_with_either_stickiness() {
    for stickiness in ["session", "user"] {
        let config = config(stickiness, 2_000);
        let report = verified(&config, &config, Fault::None, true).await;
        let expected = [
            "responses",
            "share",
            "stickiness",
            "override by header",
            "override by token cookie",
            "override by token link",
            "spoofing",
            "two cookie lines",
        ];
        assert_eq!(named(&report, Verdict::Fail), Vec::<&str>::new(), "{:#?}", report.checks);
        let passed = named(&report, Verdict::Pass);
        for name in expected.into_iter().filter(|name| *name != "override by header") {
            assert!(passed.contains(&name), "{stickiness} {name}: {:#?}", report.checks);
        }
        assert!(!report.has_failed(), "{:?}", report.checks);
    }
}

#[tokio::test]
async fn at_weight_zero_forgeries_are_tried_and_other_checks_are_reported_as_skipped() {
    let config = config("session", 0);
    let report = verified(&config, &config, Fault::None, true).await;
    assert_eq!(named(&report, Verdict::Fail), Vec::<&str>::new(), "{:#?}", report.checks);
    let passed = named(&report, Verdict::Pass);
    assert!(passed.contains(&"spoofing"), "{passed:?}");
    assert!(passed.contains(&"override by token cookie"), "{passed:?}");
    assert_eq!(named(&report, Verdict::Skipped), ["stickiness", "two cookie lines"]);
    let stickiness = detail(&report, "stickiness");
    assert!(stickiness.contains("all users are on v1"), "{stickiness}");
}

#[tokio::test]
async fn without_keys_and_without_minting_the_report_says_what_it_cannot_see() {
    let mut config = config("user", 2_000);
    config["releases"]["shop/shop"]["mint"] = json!("never");
    config["releases"]["shop/shop"]["identifyBy"] = json!([{"header": "x-user"}]);
    let report = verified(&config, &config, Fault::None, false).await;
    assert!(detail(&report, "share").contains("`mint: never`"), "{:#?}", report.checks);
    for (check, reason) in [
        ("override", "needs the proxies' keys"),
        ("spoofing", "outdated pins and tokens need the proxies' keys"),
    ] {
        assert!(detail(&report, check).contains(reason), "{check}: {}", detail(&report, check));
    }
    assert!(!report.has_failed(), "{:?}", report.checks);
}

#[tokio::test]
async fn another_share_than_the_weight_fails() {
    let report = verified(&config("session", 4_000), &config("session", 2_000), Fault::None, true).await;
    assert_eq!(named(&report, Verdict::Fail), ["share"], "{:#?}", report.checks);
}

#[tokio::test]
async fn a_system_that_flips_fails() {
    let report = faulty(Fault::Flips).await;
    assert!(named(&report, Verdict::Fail).contains(&"stickiness"), "{:#?}", report.checks);
}

#[tokio::test]
async fn a_system_that_believes_a_forgery_fails_and_the_forgery_is_named() {
    for (fault, forgery) in [
        (Fault::ObeysRoutingHeader, "header x-canary-version"),
        (Fault::ObeysUnderscores, "header x_canary_version"),
        (Fault::ObeysIdentityHeader, "header x-canary-id"),
        (Fault::BelievesAnyPin, "pin by another key, beside"),
        (Fault::BelievesAnyPin, "pin of an older epoch"),
        (Fault::BelievesAnyPin, "pin edited"),
        (Fault::BelievesExpiredTokens, "token cookie expired"),
    ] {
        let report = faulty(fault).await;
        let seen = detail(&report, "spoofing");
        assert!(seen.starts_with("believed: ") && seen.contains(forgery), "{fault:?}: {seen}");
        assert!(named(&report, Verdict::Fail).contains(&"spoofing"), "{fault:?}");
    }
}

#[tokio::test]
async fn a_system_that_reads_one_cookie_line_fails() {
    let report = faulty(Fault::ReadsOneCookieLine).await;
    assert_eq!(named(&report, Verdict::Fail), ["two cookie lines"], "{:#?}", report.checks);
}

#[tokio::test]
async fn a_system_that_pins_testers_fails() {
    let report = faulty(Fault::PinsTesters).await;
    assert!(named(&report, Verdict::Fail).contains(&"override by token cookie"), "{:#?}", report.checks);
}

#[tokio::test]
async fn an_override_that_does_not_arrive_fails() {
    let report = faulty(Fault::IgnoresTokens).await;
    let failed = named(&report, Verdict::Fail);
    for name in ["override by token header", "override by token cookie", "override by token link"] {
        assert!(failed.contains(&name), "{name}: {:#?}", report.checks);
        assert!(detail(&report, name).contains("got v1"), "{name}: {:#?}", report.checks);
    }
}

#[tokio::test]
async fn errors_and_cached_responses_fail() {
    for (fault, check) in [(Fault::Errs, "responses"), (Fault::IsCached, "caches")] {
        let report = faulty(fault).await;
        let failed = named(&report, Verdict::Fail);
        assert!(failed.contains(&check), "{check}: {failed:?}");
    }
}

#[tokio::test]
async fn a_system_that_forbids_every_request_is_told_by_its_status_and_not_as_one_without_a_version() {
    let report = faulty(Fault::Forbids).await;
    assert_eq!(named(&report, Verdict::Fail), ["responses"], "{:#?}", report.checks);
    let expected = "900 of 900 are errors (status 400 and above): 900 times 403 Forbidden";
    assert_eq!(detail(&report, "responses"), expected);
}

/// The release of the system as a file, and its keys.
fn files(weight: u32) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let spec = format!(
        "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\n\
         metadata: {{name: shop, namespace: shop, uid: {UID}}}\n\
         spec:\n  service: {{name: shop, port: 80}}\n  versions: {{stable: v1, canary: v2}}\n  \
         hosts: [127.0.0.1]\n  stickiness: user\n  identifyBy: [{{cookie: JSESSIONID}}]\n  weight: {weight}\n  \
         gateways: [{{name: istio-ingress/shop, namespace: istio-ingress, selector: {{istio: gw}}}}]\n  \
         cookies: {{tls: false}}\n  delivery: {{mode: envoyfilter, module: 'oci://registry.example.com/f:1'}}\n"
    );
    std::fs::write(directory.path().join("canary.yaml"), spec).unwrap();
    let keys = json!({"keys": [{"id": "k1", "key": KEY, "use": "sign"}]});
    let path = directory.path().join("signing-keys.json");
    std::fs::write(&path, keys.to_string()).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    directory
}

async fn command(directory: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
    command.current_dir(directory.path()).arg("verify").args(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_exits_with_0_1_or_2_and_prints_json_for_programs() {
    let directory = files(20);
    let right = start(policy(&config("user", 2_000)), Fault::None).await;
    let wrong = start(policy(&config("user", 2_000)), Fault::Flips).await;
    let few = [
        "--users",
        "200",
        "--requests",
        "2",
        "--signing-keys",
        "signing-keys.json",
        "--version-from",
        "json:.deployment.version",
    ];
    let with = |url: &str| {
        let mut arguments = vec![url.to_owned()];
        arguments.extend(few.map(str::to_owned));
        arguments
    };
    let run = async |arguments: Vec<String>| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        command(&directory, &arguments).await
    };
    let mut arguments = with(&format!("http://{right}/"));
    arguments.extend(["-o".to_owned(), "json".to_owned()]);
    let output = run(arguments).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!((&report["release"], &report["weightPercent"]), (&json!("shop/shop"), &json!(20.0)));
    let output = run(with(&format!("http://{wrong}/"))).await;
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().any(|line| line.starts_with("FAIL") && line.contains("stickiness")), "{text}");
    let output = run(with("http://127.0.0.1:1/")).await;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
    assert!(
        message.starts_with("error: no response from http://127.0.0.1:1/") && message.contains("hint:"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_place_for_the_version_nothing_is_sent() {
    let directory = files(20);
    let output = command(&directory, &["http://127.0.0.1:1/"]).await;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("where a response names its version"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_is_verified_over_tls_by_its_address_and_the_users_name() {
    let directory = files(20);
    let (address, authority) = start_tls(policy(&config("user", 2_000)), "127.0.0.1").await;
    std::fs::write(directory.path().join("ca.pem"), authority).unwrap();
    let verify = async |host: &str, ca: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
        command.current_dir(directory.path()).args([
            "verify",
            &format!("https://{address}/"),
            "--host",
            host,
        ]);
        command.args(["--users", "100", "--requests", "2", "--signing-keys", "signing-keys.json"]);
        command.args(["--version-from", "json:.deployment.version"]);
        command.envs(ca.map(|ca| ("SSL_CERT_FILE", ca)));
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    // The release's host is the address here, so it is the other name that stands in the URL.
    let trusted = verify("127.0.0.1", Some("ca.pem")).await;
    assert_eq!(trusted.status.code(), Some(0), "{}", String::from_utf8_lossy(&trusted.stderr));
    for (host, ca) in [("127.0.0.1", None), ("localhost", Some("ca.pem"))] {
        let refused = verify(host, ca).await;
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("certificate"), "{said}");
    }
}
