//! What Kubernetes is given, byte for byte.

use crate::cli_fixture::{CliFixture, golden, repository};
use placed_yaml as yaml;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

const KEYS: &str = r#"{"keys": [{"id": "k1", "key": "7365637265742073656372657420736563726574", "use": "sign"}],
    "identityKey": "6f74686572206f74686572206f74686572206f74686572"}"#;

#[test]
fn a_file_of_keys_that_others_can_read_is_reported() {
    let cli = CliFixture::new();
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    cli.write("signing-keys.json", KEYS).write("canary.yaml", &text);
    for (mode, reported) in [(0o600, false), (0o644, true), (0o640, true)] {
        set_permissions(cli.path("signing-keys.json"), Permissions::from_mode(mode)).unwrap();
        let ran = cli.run("generate --signing-keys signing-keys.json");
        let found = ran.stderr.contains("signing-keys.json can be read by other users");
        assert_eq!((ran.code, found), (0, reported), "mode {mode:o}: {}", ran.stderr);
    }
}

#[test]
fn the_objects_of_every_example_are_as_they_were() {
    for example in ["session-cookie", "jwt-user", "qa-only"] {
        let file = repository(&format!("examples/{example}/canary.yaml"));
        let ran = CliFixture::new().run(&format!("generate --dry-run -f {}", file.display()));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        yaml::documents(&ran.stdout).unwrap();
        golden(&format!("generate-{example}.yaml"), &without_digest(&ran.stdout));
    }
}

#[test]
fn routes_are_printed_alone_and_without_keys_in_the_form_that_is_asked_for() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    for (name, routes, line) in [
        ("managed", "managed", "generate routes"),
        ("external", "external", "generate routes"),
        ("gateway-api", "external", "generate routes --gateway-api"),
        ("gateway-api-ports", "external", "generate routes --gateway-api --port 9090 --port 80 --port 9000"),
    ] {
        let cli = CliFixture::new();
        cli.write("canary.yaml", &text.replacen("  # routes: managed", &format!("  routes: {routes}"), 1));
        let ran = cli.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
        yaml::documents(&ran.stdout).unwrap();
        golden(&format!("routes-{name}.yaml"), &ran.stdout);
    }
    let cli = CliFixture::new();
    cli.write("canary.yaml", &text.replacen("  # routes: managed", "  routes: inject", 1));
    let refused = cli.run("generate routes");
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("found `inject`"), "{}", refused.stderr);
}

/// The digest of the module that the tool carries differs with each build of it.
fn without_digest(text: &str) -> String {
    let line = |line: &str| match line.split_once("inline_bytes: (sha256:") {
        Some((before, digest)) => {
            assert!(digest.len() > 64 && digest.ends_with(" bytes))"), "{line}");
            format!("{before}inline_bytes: (digest)\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_kubectl_is_given_contains_the_module_and_what_is_shown_its_digest() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let cli = CliFixture::new();
    cli.write("signing-keys.json", KEYS).write("canary.yaml", &text);
    let printed = cli.run("generate --signing-keys signing-keys.json");
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let inline = printed.stdout.lines().find_map(|line| line.trim().strip_prefix("inline_bytes: ")).unwrap();
    let module = canary_release::EmbeddedModule::from_base64(inline).unwrap();
    assert!(module.bytes().starts_with(b"\0asm"), "{:?}", module.digest());
    let shown = cli.run("generate --dry-run").stdout;
    assert!(shown.contains(&format!("inline_bytes: ({})", module.digest())), "{shown}");
}

#[test]
fn a_plugin_has_its_place_from_istio_and_its_headers_from_us() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let cli = CliFixture::new();
    let plugin = "mode: wasmplugin\n    module: oci://registry.example.com/canary/filter:0.1.0";
    cli.write("canary.yaml", &text.replacen("mode: envoyfilter", plugin, 1));
    let ran = cli.run("generate --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout.lines().find(|line| line.contains("config_discovery")), None);
    let removed: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("remove: ")).collect();
    assert!(removed.iter().any(|line| line.contains("remove: x_canary_version")), "{removed:#?}");
    golden("generate-wasmplugin.yaml", &ran.stdout);
}

#[test]
fn a_key_from_a_token_puts_the_filter_behind_its_verification() {
    let text = std::fs::read_to_string(repository("examples/jwt-user/canary.yaml")).unwrap();
    let cli = CliFixture::new();
    cli.write("canary.yaml", &text.replacen("mode: trafficextension", "mode: envoyfilter", 1));
    let ran = cli.run("generate --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let steps: Vec<&str> = ran.stdout.lines().map(str::trim).filter(|line| is_step(line)).collect();
    assert_eq!(
        steps,
        [
            // The disabled filter that creates V8: its position does not matter.
            "operation: INSERT_FIRST",
            "subFilter: {name: envoy.filters.http.jwt_authn}",
            "operation: INSERT_AFTER",
            "subFilter: {name: envoy.filters.http.router}",
            "operation: INSERT_BEFORE",
            "subFilter: {name: canary-place}",
            "operation: INSERT_AFTER",
            "subFilter: {name: canary-place}",
            "operation: REMOVE",
        ]
    );
    golden("generate-jwt-envoyfilter.yaml", &ran.stdout);
}

/// What a patch does to the chain, and where.
fn is_step(line: &str) -> bool {
    line.starts_with("subFilter")
        || ["INSERT", "REMOVE"].iter().any(|operation| line.starts_with(&format!("operation: {operation}")))
}

#[test]
fn a_train_in_gateway_and_sidecars_shares_one_filter_for_each() {
    let fixture = |name: &str| repository(&format!("ctl/tests/fixtures/{name}.yaml")).display().to_string();
    let line = format!(
        "generate --dry-run --weight 12.5 --generation 7 -f {} -f {}",
        fixture("web"),
        fixture("api")
    );
    let ran = CliFixture::new().run(&line);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let named = |name: &str| ran.stdout.matches(&format!("\n  name: {name}\n")).count();
    assert_eq!((named("canary-ingressgateway-filter"), named("canary-web-filter")), (1, 1));
    golden("generate-train.yaml", &ran.stdout);
}

#[test]
fn a_token_is_for_the_release_that_is_generated_also_where_the_file_names_no_uid() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let cli = CliFixture::new();
    cli.write("signing-keys.json", KEYS).write("canary.yaml", &text);
    let printed = cli.run("generate --signing-keys signing-keys.json").stdout;
    let (_, uid) = printed.split_once(r#""uid":""#).unwrap();
    let (uid, _) = uid.split_once('"').unwrap();
    cli.write("named.yaml", &text.replacen("spec:\n", &format!("spec:\n  uid: {uid}\n"), 1));
    let token = cli.run("token create --signing-keys signing-keys.json --version v2");
    let inspected = cli.run(&format!(
        "token inspect --signing-keys signing-keys.json -f named.yaml {}",
        token.stdout.trim()
    ));
    assert!(inspected.stdout.starts_with("shop/shop: valid"), "{}{}", inspected.stdout, inspected.stderr);
}

#[test]
fn what_is_edited_on_a_cluster_cannot_be_printed() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let cli = CliFixture::new();
    cli.write("canary.yaml", &text.replacen("  delivery:", "  routes: inject\n  delivery:", 1));
    cli.run("generate --dry-run").expect_output(
        2,
        "",
        "error: expected `routes: managed` or `external`, found `inject`: what it is injected into is on the cluster
  hint: `canary-ctl diff` shows it, and `canary-ctl apply` does it\n",
    );
    cli.write("canary.yaml", &text.replacen("  delivery:", "  routes: gateway-api\n  delivery:", 1));
    for verb in ["generate --dry-run", "generate routes", "generate routes --gateway-api"] {
        cli.run(verb).expect_output(
            2,
            "",
            "error: expected `routes: managed` or `external`, found `gateway-api`: what it is beside is on the cluster
  hint: `canary-ctl diff` shows it, and `canary-ctl apply` does it\n",
        );
    }
}

#[test]
fn keys_are_never_invented_and_never_shown_in_a_dry_run() {
    let file = repository("examples/jwt-user/canary.yaml");
    let cli = CliFixture::new();
    cli.write("signing-keys.json", KEYS);
    cli.run(&format!("generate -f {}", file.display())).expect_output(
        2,
        "",
        "error: expected a file of keys, found none: pins, minted ids and tokens are signed
  hint: `canary-ctl init` draws keys; name their file with `--signing-keys FILE`\n",
    );
    let printed = cli.run(&format!("generate --signing-keys signing-keys.json -f {}", file.display()));
    assert_eq!(printed.code, 0);
    let dry = cli.run(&format!("generate --dry-run --signing-keys signing-keys.json -f {}", file.display()));
    for secret in
        ["7365637265742073656372657420736563726574", "6f74686572206f74686572206f74686572206f74686572"]
    {
        assert!(printed.stdout.contains(secret), "expected {secret}, found {:?}", printed.stdout);
        assert_eq!(dry.stdout.lines().find(|line| line.contains(secret)), None);
    }
}

#[test]
fn an_object_that_the_api_server_would_refuse_is_refused_first() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let hosts: Vec<String> = (0..60_000).map(|n| format!("shop-{n}.tenants.example.com")).collect();
    let cli = CliFixture::new();
    cli.write("canary.yaml", &text.replacen("[shop.example.com]", &format!("[{}]", hosts.join(",")), 1));
    let ran = cli.run("generate --dry-run");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: expected at most 1400000 bytes in `canary-ingressgateway-config`"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: spread the releases"), "{}", ran.stderr);
}

#[test]
fn a_module_that_has_no_place_beside_its_releases_is_refused_with_the_way_to_a_registry() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let hosts: Vec<String> = (0..38_000).map(|n| format!("shop-{n}.tenants.example.com")).collect();
    let text = text.replacen("[shop.example.com]", &format!("[{}]", hosts.join(",")), 1);
    let cli = CliFixture::new();
    cli.write("signing-keys.json", KEYS);
    let refused_with = |module: &str| {
        cli.write("canary.yaml", &text.replacen("# module: embedded", &format!("module: {module}"), 1));
        cli.run("generate --signing-keys signing-keys.json")
    };
    let ran = refused_with("embedded");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for part in [" of them the embedded module\n", "hint: put the module into a registry"] {
        assert!(ran.stderr.contains(part), "expected `{part}` in {}", ran.stderr);
    }
    assert_eq!(refused_with("oci://registry.test/filter:1").code, 0, "which is enough");
}

#[test]
fn every_object_that_is_printed_has_the_labels_and_annotations_of_its_release() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let given = "  namespace: shop
  labels: {team: checkout, istio.io/rev: 1-30}
  annotations: {example.com/note: \"owned by: checkout\"}
";
    let text = text.replacen("  namespace: shop\n", given, 1);
    let cli = CliFixture::new();
    cli.write("canary.yaml", &text);
    let ran = cli.run("generate --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    golden("generate-labels.yaml", &without_digest(&ran.stdout));
    let routes = cli.run("generate routes --gateway-api");
    for (printed, objects) in [(&ran.stdout, 6), (&routes.stdout, 2)] {
        let count = |line: &str| printed.lines().filter(|other| *other == line).count();
        let found = [count("    team: checkout"), count("    example.com/note: \"owned by: checkout\"")];
        assert_eq!(found, [objects; 2], "{printed}");
    }
}

#[test]
fn releases_that_share_a_proxy_must_agree_about_it() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let other = text
        .replace("name: shop\n", "name: blog\n")
        .replace("[shop.", "[blog.")
        .replace("# module: embedded", "module: oci://registry.test/filter:2");
    let text = text.replace("# module: embedded", "module: oci://registry.test/filter:1");
    let cli = CliFixture::new();
    cli.write("a.yaml", &text).write("b.yaml", &other);
    cli.run("generate --dry-run -f a.yaml -f b.yaml").expect_output(
        2,
        "",
        "error: releases that share a proxy must agree: `delivery.module` is `oci://registry.test/filter:1` in `shop/shop` and `oci://registry.test/filter:2` in `shop/blog`
  hint: set `delivery.module` to the same value in the files of `shop/shop` and `shop/blog`\n",
    );
}
