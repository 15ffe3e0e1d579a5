use super::*;
use crate::file::parse;
use serde_json::json;
use std::path::Path;

fn release(changes: &Value) -> Release {
    let mut spec = json!({
        "service": {"name": "shop", "port": 80},
        "versions": {"stable": "v1", "canary": "v2"},
        "hosts": ["shop.acme.io"],
        "gateways": [{"name": "ingress/gateway", "selector": {"istio": "gateway"}}],
        "stickiness": "session",
        "session": {"cookie": "JSESSIONID"},
        "identifyBy": [{"cookie": "JSESSIONID"}],
        "delivery": {"module": "oci://registry.acme.io/filter:1"},
    });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        spec[name] = value;
    }
    let document = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop"}, "spec": spec});
    parse(Path::new("canary.yaml"), &document.to_string()).unwrap().release
}

fn server(protocol: &str, hosts: &[&str]) -> Value {
    json!({"port": {"number": 443, "protocol": protocol, "name": "web"}, "hosts": hosts})
}

fn labels(pairs: &[(&str, &str)]) -> PodLabels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A Gateway with these servers that selects `istio: gateway`, and pods with these labels.
fn exposed(release: &Release, servers: &[Value], pods: &[PodLabels]) -> Exposure {
    let object = json!({"spec": {"selector": {"istio": "gateway"}, "servers": servers}});
    let gateway = release.gateways[0].clone();
    let observed =
        GatewayObservation { gateway, object: Some(object), is_gateway_api: false, pods: pods.to_vec() };
    Exposure { gateways: vec![observed], ..Exposure::default() }
}

fn found(release: &Release, exposure: &Exposure) -> Vec<(PreflightCheck, String)> {
    let failures = exposure_failures(release, exposure).into_iter();
    failures.map(|failed| (failed.check, failed.message)).collect()
}

#[test]
fn a_release_whose_gateway_serves_its_host_with_tls_on_the_selected_pods_passes() {
    let release = release(&Value::Null);
    let pods = [labels(&[("istio", "gateway"), ("app", "gateway")])];
    let exposure = exposed(&release, &[server("HTTPS", &["*.acme.io"])], &pods);
    assert_eq!(found(&release, &exposure), []);
    assert_eq!(check_exposure(&release, &exposure, &[]), Ok(()));
}

#[test]
fn a_selector_that_fits_no_pod_or_pods_of_another_gateway_is_refused() {
    let release =
        release(&json!({"gateways": [{"name": "ingress/gateway", "selector": {"istio": "ingress"}}]}));
    let servers = [server("HTTPS", &["*"])];
    let theirs = labels(&[("istio", "gateway")]);
    let expected = "expected pods with labels `istio: ingress` in namespace `ingress`, found none; \
                    Gateway `ingress/gateway` selects `istio: gateway`";
    let found_none = found(&release, &exposed(&release, &servers, std::slice::from_ref(&theirs)));
    assert_eq!(found_none, [(PreflightCheck::NoProxies, expected.to_owned())]);

    let other = labels(&[("istio", "ingress")]);
    let expected = "expected pods of Gateway `ingress/gateway`, which selects `istio: gateway`, found 1 others with labels \
                    `istio: ingress`";
    let found_others = found(&release, &exposed(&release, &servers, &[theirs.clone(), other]));
    assert_eq!(found_others, [(PreflightCheck::SelectorMismatch, expected.to_owned())]);

    let covered = labels(&[("istio", "gateway"), ("app", "one")]);
    let release =
        self::release(&json!({"gateways": [{"name": "ingress/gateway", "selector": {"app": "one"}}]}));
    let expected = "expected labels `app: one` at all pods of Gateway `ingress/gateway`, found 1 pods with `istio: gateway` \
                    without them";
    let found_some = found(&release, &exposed(&release, &servers, &[theirs, covered.clone()]));
    assert_eq!(found_some, [(PreflightCheck::SelectorMismatch, expected.to_owned())]);
    assert_eq!(found(&release, &exposed(&release, &servers, &[covered])), []);
}

#[test]
fn a_gateway_that_does_not_exist_is_refused_once() {
    let release = release(&Value::Null);
    let mut exposure = exposed(&release, &[], &[labels(&[("istio", "gateway")])]);
    exposure.gateways[0].object = None;
    let expected = "expected Gateway `ingress/gateway`, found none: routes that name it have no effect";
    assert_eq!(found(&release, &exposure), [(PreflightCheck::NoGateway, expected.to_owned())]);
}

#[test]
fn an_entry_serves_a_host_as_istio_binds_it() {
    let both = ("ingress", "shop");
    for (entry, namespaces, host, expected) in [
        ("shop.acme.io", both, "shop.acme.io", true),
        ("SHOP.acme.io", both, "shop.acme.io", true),
        ("*", both, "shop.acme.io", true),
        ("*.acme.io", both, "shop.acme.io", true),
        ("*.acme.io", both, "acme.io", false),
        ("*.acme.io", both, "newacme.io", false),
        ("shop.acme.io", both, "*.acme.io", true),
        ("blog.acme.io", both, "shop.acme.io", false),
        ("*/shop.acme.io", both, "shop.acme.io", true),
        ("shop/*.acme.io", both, "shop.acme.io", true),
        ("blog/*.acme.io", both, "shop.acme.io", false),
        ("./shop.acme.io", both, "shop.acme.io", false),
        ("./shop.acme.io", ("shop", "shop"), "shop.acme.io", true),
    ] {
        assert_eq!(serves(entry, namespaces, host), expected, "{entry} for {host} in {namespaces:?}");
    }
}

#[test]
fn a_host_that_no_server_has_is_refused_unless_an_external_route_has_it() {
    let pods = [labels(&[("istio", "gateway")])];
    let inside = "shop.shop.svc.cluster.local";
    let managed = release(&json!({"hosts": ["other.acme.io", inside]}));
    let servers = [server("HTTPS", &["shop.acme.io"])];
    let expected = "expected host `other.acme.io` at a server of Gateway `ingress/gateway`, found none";
    let refused = found(&managed, &exposed(&managed, &servers, &pods));
    assert_eq!(refused, [(PreflightCheck::HostNotServed, expected.to_owned())]);

    let external = release(&json!({"hosts": ["other.acme.io"], "routes": "external"}));
    let mut exposure = exposed(&external, &servers, &pods);
    assert_eq!(found(&external, &exposure)[0].0, PreflightCheck::HostNotServed);
    exposure.route_objects.push(json!({"spec": {"hosts": ["other.acme.io"]}}));
    assert_eq!(found(&external, &exposure), []);
}

#[test]
fn plain_http_is_refused_unless_the_file_says_who_speaks_tls_or_no_cookie_is_set() {
    let pods = [labels(&[("istio", "gateway")])];
    let http = [server("HTTP", &["shop.acme.io"]), server("HTTPS", &["blog.acme.io"])];
    let silent = release(&Value::Null);
    let expected = "expected a server with TLS for host `shop.acme.io` at Gateway `ingress/gateway`, found plain HTTP: browsers \
                    drop `Secure` cookies, and no session would keep its version";
    assert_eq!(
        found(&silent, &exposed(&silent, &http, &pods)),
        [(PreflightCheck::NoTls, expected.to_owned())]
    );
    let by_user =
        json!({"stickiness": "user", "mint": "never", "identifyBy": [{"header": "x-user"}], "session": {}});
    for changes in [json!({"cookies": {"tls": true}}), json!({"cookies": {"tls": false}}), by_user] {
        let release = release(&changes);
        assert_eq!(found(&release, &exposed(&release, &http, &pods)), [], "{changes}");
    }
    let both = [server("HTTP", &["shop.acme.io"]), server("HTTPS", &["shop.acme.io"])];
    assert_eq!(found(&silent, &exposed(&silent, &both, &pods)), []);
}

#[test]
fn a_module_at_a_domain_that_nobody_can_own_is_a_placeholder() {
    for (url, expected) in [
        ("oci://registry.example.com/filter:1", true),
        ("https://example.org:8443/filter.wasm", true),
        ("oci://registry.invalid/filter:1", true),
        ("oci://registry.acme.io/example.com/filter:1", false),
        ("oci://myexample.com/filter:1", false),
        ("file:///etc/filter.wasm", false),
    ] {
        let release = release(&json!({"delivery": {"module": url, "sha256": "0".repeat(64)}}));
        let is_found =
            placeholder(&release).is_some_and(|failed| failed.check == PreflightCheck::PlaceholderModule);
        assert_eq!(is_found, expected, "{url}");
    }
}

#[test]
fn a_skipped_check_lets_the_next_failure_speak() {
    let release = release(&json!({"delivery": {"module": "oci://registry.example.com/filter:1"}}));
    let exposure = exposed(&release, &[server("HTTPS", &["*"])], &[]);
    let refused = |skipped: &[PreflightCheck]| {
        check_exposure(&release, &exposure, skipped).map_err(|failed| failed.check)
    };
    assert_eq!(refused(&[]), Err(PreflightCheck::PlaceholderModule));
    assert_eq!(refused(&[PreflightCheck::PlaceholderModule]), Err(PreflightCheck::NoProxies));
    assert_eq!(refused(&[PreflightCheck::PlaceholderModule, PreflightCheck::NoProxies]), Ok(()));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_gateway_of_others_at_the_same_pods_that_takes_the_connections_for_the_host_is_refused() {
    let tls = |mode: &str, hosts: &[&str]| {
        let mut server = server("TLS", hosts);
        server["tls"] = json!({"mode": mode});
        server
    };
    let on = |port: u64, mut server: Value| {
        server["port"]["number"] = json!(port);
        server
    };
    let wide = ["*.acme.io"];
    let exact = ["shop.acme.io"];
    let (old, young) = (Some("2020-01-01T00:00:00Z"), Some("2030-01-01T00:00:00Z"));
    let rows = [
        ("passthrough, more exact", &wide, tls("PASSTHROUGH", &exact), young, Some("passes them on")),
        ("its own routes, more exact", &wide, server("HTTPS", &exact), young, Some("routes of its own")),
        (
            "for another namespace",
            &wide,
            server("HTTPS", &["other/shop.acme.io"]),
            young,
            Some("routes of its own"),
        ),
        ("passthrough, as exact, older", &exact, tls("PASSTHROUGH", &exact), old, Some("passes them on")),
        ("passthrough, as exact, younger", &exact, tls("PASSTHROUGH", &exact), young, None),
        ("passthrough, less exact", &exact, tls("PASSTHROUGH", &["*"]), old, None),
        ("another host", &wide, tls("PASSTHROUGH", &["blog.acme.io"]), old, None),
        ("another port", &wide, on(8443, tls("PASSTHROUGH", &exact)), old, None),
        ("plain HTTP", &wide, on(443, server("HTTP", &exact)), old, None),
    ];
    for (what, own, other, created, expected) in rows {
        for (selector, is_same) in [("gateway", true), ("other", false)] {
            let release = release(&Value::Null);
            let pods = [labels(&[("istio", "gateway"), ("app", "gateway")])];
            let mut exposure = exposed(&release, &[server("HTTPS", own)], &pods);
            exposure.gateways[0].object.as_mut().unwrap()["metadata"] =
                json!({"creationTimestamp": "2025-01-01T00:00:00Z"});
            let object = json!({"metadata": {"creationTimestamp": created}, "spec": {"servers": [other]}});
            let selector = labels(&[("istio", selector)]);
            exposure.other_gateways =
                vec![OtherGateway { name: "web/edge".to_owned(), object, namespace: None, selector }];
            let found = found(&release, &exposure);
            match expected.filter(|_| is_same) {
                None => assert_eq!(found, [], "{what}"),
                Some(part) => {
                    let [(check, message)] = found.as_slice() else { panic!("{what}: {found:?}") };
                    assert_eq!(*check, PreflightCheck::NoHttpServer, "{what}");
                    assert!(message.contains(part) && message.contains("`web/edge`"), "{what}: {message}");
                }
            }
        }
    }
}
