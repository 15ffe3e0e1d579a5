//! Dangerous settings are reported, and an error ends with exit code 1.

use crate::cli_fixture::{CliFixture, repository};
use canary_release::{file, lint};
use std::path::Path;

fn example() -> String {
    std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap()
}

#[test]
fn every_example_is_free_of_errors() {
    for example in ["session-cookie", "jwt-user", "qa-only"] {
        let file = repository(&format!("examples/{example}/canary.yaml"));
        let findings = lint::lint(&file::load(&file).unwrap());
        assert!(findings.worst() < Some(lint::Level::Error), "{example}: {findings:?}");
    }
}

#[test]
fn each_danger_is_found_at_its_level_and_place() {
    use lint::Level::{Error, Info, Warning};
    let sidecars = "stickiness: session\n  sidecars: [{namespace: shop}]";
    let keyed_sidecars = "stickiness: session\n  sidecars: [{namespace: shop}]\n  identity: keyed";
    let inline_url =
        "override: token\n  rollout: {alerts: [{name: team, type: slack, url: \"https://hooks.example/x\"}]}";
    let prometheus = |address: &str, query: &str| {
        format!(
            "override: token\n  rollout:\n    prometheus: {{address: {address}, bearerTokenFrom: {{env: TOKEN}}}}\n    \
             metrics: [{{name: up, query: '{query}', max: 1}}]"
        )
    };
    let plain = prometheus("http://prometheus:9090", "up{version=\"{{ version }}\"}");
    let of_both = prometheus("https://prometheus:9090", "up");
    let cases = [
        ("  namespace: shop\n", "  namespace: shop\n  uid: abcdefghijkl\n", Info, "metadata.uid"),
        ("    - cookie: JSESSIONID", "    - header: x-user", Error, "spec.identifyBy[0]"),
        ("    - cookie: JSESSIONID", "    - header: x-user", Warning, "spec.identifyBy[0]"),
        ("    - cookie: JSESSIONID", "    - client-address", Warning, "spec.identifyBy[0]"),
        ("    - cookie: JSESSIONID", "    - jwt: {claim: sub}", Info, "spec.identifyBy[0]"),
        ("    cookie: JSESSIONID", "    adopt: true", Warning, "spec.session"),
        ("  session:\n    cookie: JSESSIONID", "  mint: never", Error, "spec.session"),
        ("  # paths: [/]", "  paths: [/shop]", Warning, "spec.paths"),
        ("override: token", "override: off", Info, "spec.stickiness"),
        ("stickiness: session", sidecars, Error, "spec.sidecars"),
        ("stickiness: session", keyed_sidecars, Info, "spec.identity"),
        ("override: token", "override: off", Info, "spec.session.cookie"),
        ("override: token", "override: open", Error, "spec.override"),
        ("override: token", "cookies: {tls: false}", Warning, "spec.cookies.tls"),
        ("override: token", inline_url, Warning, "spec.rollout.alerts[0].url"),
        ("override: token", plain.as_str(), Warning, "spec.rollout.prometheus.address"),
        ("override: token", of_both.as_str(), Warning, "spec.rollout.metrics[0].query"),
        ("override: token", "override: token\n  rollout: {deadline: 2h}", Warning, "spec.rollout.deadline"),
        ("override: token", "override: off", Info, "spec.cacheControl"),
        ("override: token", "override: off", Info, "spec.sessionAffinity"),
        ("    cookie: JSESSIONID", "    cookie: JSESSIONID\n    maxAge: 7d", Info, "spec.session.maxAge"),
        (
            "mode: envoyfilter",
            "mode: wasmplugin\n    module: oci://registry.test/filter:2",
            Warning,
            "spec.delivery.mode",
        ),
        ("  identifyBy:\n    - cookie: JSESSIONID", "", Info, "spec.identifyBy"),
    ];
    for (from, to, level, field) in cases {
        let text = example().replacen(from, to, 1);
        let findings = lint::lint(&file::parse(Path::new("canary.yaml"), &text).unwrap());
        let found = findings.findings.iter().any(|finding| finding.level == level && finding.field == field);
        assert!(found, "expected {level:?} at {field} for `{to}`, found {findings:#?}");
    }
}

#[test]
fn a_percentile_is_found_inside_a_train_and_not_behind_gateways() {
    let text = "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\nmetadata: {name: api, namespace: shop}\nspec:\n  service: {name: api, port: 80}\n  \
                versions: {stable: v1, canary: v2}\n  hosts: [api]\n  PROXIES\n  stickiness: user\n  train: autumn\n  latencyHistogram: true\n  \
                rollout: {slowerThan: SLOW}\n";
    let sidecars = "sidecars: [{namespace: shop, selector: {app: web}}]";
    let gateways =
        "gateways: [{name: istio-ingress/shop, namespace: istio-ingress, selector: {istio: ingress}}]";
    for (proxies, slow, expected) in
        [(sidecars, "p95", true), (sidecars, "800ms", false), (gateways, "p95", false)]
    {
        let text = text.replace("PROXIES", proxies).replace("SLOW", slow);
        let findings = lint::lint(&file::parse(Path::new("canary.yaml"), &text).unwrap()).findings;
        let found = findings.iter().any(|finding| finding.field == "spec.rollout.slowerThan");
        assert_eq!(found, expected, "{proxies}, {slow}: {findings:#?}");
    }
}

/// What a client can do about its bucket: one finding for each kind of key, and none that breaks a promise.
#[test]
fn a_key_that_clients_choose_is_found_with_what_they_can_do_with_it() {
    use lint::Level::{Info, Warning};
    let (header, keyed_header) = ("header: x-device", "header: x-device\n  identity: keyed");
    for (key, expected) in [
        (
            "cookie: JSESSIONID",
            Some((Info, "choose the value of cookie `JSESSIONID`, and with it its bucket")),
        ),
        (
            "cookie: A\n    - cookie: B",
            Some((Info, "choose the value of cookie `A` or `B`, and with it its bucket")),
        ),
        ("cookie: JSESSIONID\n  identity: keyed", None),
        (header, Some((Warning, "choose header `x-device`, and with it its bucket"))),
        (
            keyed_header,
            Some((Info, "try values of header `x-device` until one has the bucket that it wants")),
        ),
        ("query: device", Some((Warning, "choose parameter `device`, and with it its bucket"))),
        ("query: device\n  identity: keyed", Some((Info, "try values of parameter `device` until"))),
        ("jwt: {claim: sub}\n  identity: keyed", None),
    ] {
        let text = example().replacen("- cookie: JSESSIONID", &format!("- {key}"), 1);
        let findings = lint::lint(&file::parse(Path::new("canary.yaml"), &text).unwrap()).findings;
        let about = |finding: &&lint::Finding| {
            let said = finding.message.strip_prefix("a client can ");
            said.is_some_and(|said| said.starts_with("choose ") || said.starts_with("try "))
        };
        let found: Vec<_> =
            findings.iter().filter(about).map(|finding| (finding.level, &finding.message)).collect();
        match (&found[..], expected) {
            ([], None) => {}
            ([(level, message)], Some((expected, text))) => {
                assert!(*level == expected && message.contains(text), "{key}: {found:#?}");
            }
            _ => panic!("{key}: expected {expected:?}, found {found:#?}"),
        }
    }
}

#[test]
fn sessions_in_the_address_concern_servlet_cookies_alone() {
    let concerned = |cookie: &str| {
        let text = example().replace("JSESSIONID", cookie);
        let findings = lint::lint(&file::parse(Path::new("canary.yaml"), &text).unwrap()).findings;
        findings.iter().any(|finding| finding.message.contains(";jsessionid="))
    };
    assert_eq!(["JSESSIONID", "jsessionid", "PHPSESSID"].map(concerned), [true, true, false]);
}

#[test]
fn an_error_ends_with_one_and_has_a_form_for_programs() {
    let cli = CliFixture::new();
    cli.write("canary.yaml", &example().replacen("override: token", "override: open", 1));
    let ran = cli.run("lint -o json");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let findings: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let error = findings["findings"].as_array().unwrap().iter().find(|one| one["level"] == "error").unwrap();
    assert_eq!(error["id"], "open-override");
    assert_eq!((&error["field"], &error["line"]), (&"spec.override".into(), &53.into()));
}
