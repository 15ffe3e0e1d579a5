//! `canary.yaml` is read strictly, and all its faults are reported at once.

use crate::cli_fixture::{CliFixture, repository};

const FAULTY: &str = "apiVersion: canary-ctl.io/v1alpha1
kind: Releas
metadata: {name: Shop, namespace: shop}
spec:
  versions: {stable: v1, canary: v1}
  hosts: []
  stickyness: session
  session: {cookie: A, maxAge: 24}
  identifyBy:
    - cokie: JSESSIONID
    - jwt: {claim: sub, payloda: x}
  weight: 12,5
  delivery: {mode: envoyfiler, module: registry.example.com/filter}
";

#[test]
fn every_fault_is_reported_with_its_place_and_the_nearest_name() {
    let expected = "\
error: canary.yaml:2:7: expected `Release`, found `Releas`
canary.yaml:3:18: expected 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit, found `Shop`
canary.yaml:5:3: `spec.stickiness` is missing
canary.yaml:6:10: expected at least one host, found none
canary.yaml:7:3: unknown field `spec.stickyness`
  hint: did you mean `stickiness`?
canary.yaml:8:32: expected a duration like `90s`, `30m`, `24h` or `7d`, found `24`
canary.yaml:10:7: unknown field `spec.identifyBy[0].cokie`
  hint: did you mean `cookie`?
canary.yaml:11:25: unknown field `spec.identifyBy[1].jwt.payloda`
  hint: did you mean `payload`?
canary.yaml:12:11: expected a percentage like `20`, `12.5` or `0.25%`, found `12,5`
canary.yaml:13:20: expected `envoyfilter`, `wasmplugin`, `trafficextension` or `local`, found `envoyfiler`
  hint: did you mean `envoyfilter`?
canary.yaml:13:40: expected `embedded` or a URL (oci://, http://, https:// or file://), found `registry.example.com/filter`
  hint: write `oci://registry.example.com/filter` for an image
";
    CliFixture::new().write("canary.yaml", FAULTY).run("lint").expect_output(2, "", expected);
}

#[test]
fn a_file_that_is_no_yaml_is_an_error_with_its_place() {
    let ran = CliFixture::new().write("canary.yaml", "spec:\n  a: [1, 2\n").run("lint");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: canary.yaml:2:6: "), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_not_there_is_an_error_with_a_hint() {
    let expected = "error: cannot read canary.yaml: No such file or directory
  hint: `-f FILE` names the file of the release; `canary-ctl init` writes a first one
";
    CliFixture::new().run("lint").expect_output(2, "", expected);
}

#[test]
fn a_release_that_is_named_needs_no_file_unless_one_is_named_too() {
    let cli = CliFixture::new();
    for verb in
        ["rollback", "weight 0", "promote", "pause", "status", "uninstall", "rollout status", "rollout abort"]
    {
        let found = cli.run(&format!("{verb} -r shop/shop --kubeconfig none"));
        assert_eq!(found.code, 2, "{verb}: {found:?}");
        let is_about_the_cluster = found.stderr.contains("`none`") || found.stderr.contains("kubeconfig");
        assert!(is_about_the_cluster && !found.stderr.contains("canary.yaml"), "{verb}: {found:?}");
        let found = cli.run(&format!("{verb} -r shop --kubeconfig none"));
        assert!(found.stderr.contains("kubeconfig `none`"), "{verb}: {found:?}");
        let found = cli.run(&format!("{verb} -r shop/shop -f other.yaml --kubeconfig none"));
        assert!(found.stderr.contains("other.yaml"), "{verb}: {found:?}");
    }
}

#[test]
fn a_value_that_the_filter_would_refuse_is_reported_at_its_field() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    for (from, to, place) in [
        ("[shop.example.com]", "['shop.example.com:8443']", "canary.yaml:19:10: expected"),
        ("canary: v2", "canary: v1", "canary.yaml:16:13: expected two versions, found `v1`"),
        (
            "stable: v1",
            "stable: V2",
            "canary.yaml:16:13: versions `V2` and `v2` would both be the subset `v2`",
        ),
        ("  # paths: [/]", "  paths: [shop]", "canary.yaml:20:10: expected"),
    ] {
        let ran = CliFixture::new().write("canary.yaml", &text.replacen(from, to, 1)).run("lint");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(ran.stderr.contains(place), "expected {place}, found {}", ran.stderr);
    }
}

#[test]
fn routes_beside_http_routes_are_those_of_gateways_on_a_cluster() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    for (added, expected) in [
        (
            "sidecars: [{namespace: web, selector: {app: web}}]",
            "found `sidecars`: no such route is used inside the mesh",
        ),
        (
            "sessionAffinity: identity",
            "expected no `sessionAffinity` with `routes: gateway-api`, found `identity`",
        ),
    ] {
        let text = text.replacen("  delivery:", &format!("  routes: gateway-api\n  {added}\n  delivery:"), 1);
        let ran = CliFixture::new().write("canary.yaml", &text).run("lint");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{added}");
        assert!(ran.stderr.contains(expected), "expected {expected}, found {}", ran.stderr);
    }
}

#[test]
fn one_version_in_both_roles_is_one_fault() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let ran =
        CliFixture::new().write("canary.yaml", &text.replacen("canary: v2", "canary: v1", 1)).run("lint");
    let expected = "error: canary.yaml:16:13: expected two versions, found `v1` as stable and as canary\n";
    ran.expect_output(2, "", expected);
}

#[test]
fn a_module_is_embedded_only_where_the_mode_has_a_field_for_it() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let fixed = "mode: envoyfilter";
    let no_field = "expected a URL, found `embedded`: this mode's kind has no field for the bytes of a module
  hint: use `mode: envoyfilter`, or put the module into a registry: `oci://…`\n";
    let no_sum = "expected no `sha256` with an embedded module, found one: nothing is fetched\n";
    let sum = format!("mode: envoyfilter\n    sha256: \"{}\"", "a".repeat(64));
    for (to, expected) in [
        ("mode: wasmplugin\n    module: embedded", no_field),
        ("mode: trafficextension\n    module: embedded", no_field),
        ("mode: wasmplugin", "`spec.delivery.module` is missing\n"),
        (&sum, no_sum),
    ] {
        let ran = CliFixture::new().write("canary.yaml", &text.replacen(fixed, to, 1)).run("lint");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{to}");
        assert!(ran.stderr.ends_with(expected), "expected {expected}, found {}", ran.stderr);
    }
}

#[test]
fn what_is_left_empty_is_no_value_and_a_sidecar_needs_a_namespace() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let text = text.replacen("[shop.example.com]", "[shop.example.com, null]", 1);
    let text = text.replacen("  # sidecars: []", "  sidecars: [{selector: {app: }}]\n  # ", 1);
    let expected = "\
error: canary.yaml:19:29: expected a value, found nothing
canary.yaml:25:14: `spec.sidecars[0].namespace` is missing
canary.yaml:25:29: expected a value, found nothing
";
    CliFixture::new().write("canary.yaml", &text).run("lint").expect_output(2, "", expected);
}

#[test]
fn labels_that_kubernetes_or_another_owner_would_not_take_are_faults_with_their_place() {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let given = "  namespace: shop
  labels:
    team: checkout
    istio.io/rev: 1-30
    cost centre: a
    tier: a/b
    app.kubernetes.io/managed-by: Helm
  annotations:
    example.com/note: any text
    kubectl.kubernetes.io/restartedAt: now
";
    let text = text.replacen("  namespace: shop\n", given, 1);
    let expected = "\
error: canary.yaml:11:5: expected a name like `team` or `example.com/team`, of at most 63 letters, digits, `-`, `_` and `.` after a DNS name, found `cost centre`
canary.yaml:12:5: expected at most 63 letters, digits, `-`, `_` and `.` with a letter or a digit at both ends as the value of label `tier`, found `a/b`
canary.yaml:13:5: expected a name of your own, found `app.kubernetes.io/managed-by`: it says that canary-ctl manages the object
canary.yaml:16:5: expected a name of your own, found `kubectl.kubernetes.io/restartedAt`: `kubernetes.io/` and `k8s.io/` are reserved for Kubernetes
";
    CliFixture::new().write("canary.yaml", &text).run("lint").expect_output(2, "", expected);
}
