//! The local target without an Envoy: what is written, what is refused, and what stays as it was.

use crate::cli_fixture::{CliFixture, golden, repository};
use assignment::FilterConfig;
use canary_ctl::local::{Environment, State};
use canary_release::file;
use placed_yaml as yaml;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// Nothing listens on port 9 (discard): no Envoy runs.
pub(crate) fn release() -> String {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let (head, _) = text.split_once("  # How the filter").unwrap();
    format!(
        "{head}  delivery:\n    mode: local\n    module: /opt/canary_filter.wasm\n    local:\n      directory: local\n\
         \x20     listen: 127.0.0.1:8080\n      admin: 127.0.0.1:9\n\
         \x20     endpoints: {{v1: [127.0.0.1:9001], v2: [127.0.0.1:9002, 127.0.0.1:9003]}}\n"
    )
}

fn generated() -> CliFixture {
    let cli = CliFixture::new();
    cli.write("canary.yaml", &release());
    cli.run("generate").expect_output(
        0,
        "",
        "shop/shop: generation 1 written to local\n  hint: `envoy --config-path local/envoy.yaml` starts Envoy\n",
    );
    cli
}

/// The filter's configuration as Envoy would hand it over.
fn configuration(cli: &CliFixture) -> FilterConfig {
    let root = yaml::parse(&cli.read("local/ecds.yaml")).unwrap();
    let yaml::Value::Sequence(resources) = &root.get("resources").unwrap().value else { panic!() };
    let config = resources[0].get("typed_config").and_then(|node| node.get("config")).unwrap();
    let value = config.get("configuration").and_then(|node| node.get("value")).unwrap();
    let yaml::Value::Scalar(json, _) = &value.value else { panic!() };
    FilterConfig::from_json_strict(json.as_bytes()).unwrap()
}

#[test]
fn a_dry_run_prints_the_files_and_writes_nothing() {
    let cli = CliFixture::new();
    cli.write("canary.yaml", &release());
    let ran = cli.run("generate --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!cli.path("local").exists());
    let folder = std::path::absolute(cli.path("local")).unwrap().display().to_string();
    let after = |mark: &str, length: usize| ran.stdout.split(mark).nth(1).unwrap()[..length].to_owned();
    let (uid, now) = (after("\"uid\":\"", 12), after("\"installedAtSeconds\":", 10));
    let text = ran.stdout.replace(&folder, "DIRECTORY").replace(&uid, "UID").replace(&now, "NOW");
    let end = (now.parse::<u64>().unwrap() + 24 * 3600).to_string();
    let text = text.replace(&end, "TOMORROW");
    golden("generate-local.yaml", &text);
}

#[test]
fn a_weight_is_the_only_thing_that_a_weight_changes() {
    let cli = generated();
    let before = configuration(&cli);
    let (routes, clusters) = (cli.read("local/rds.yaml"), cli.read("local/cds.yaml"));
    let note = "no Envoy is running; it will begin with this weight\n";
    cli.run("weight 12.5").expect_output(0, "shop/shop: v2 0% -> 12.5% (generation 2)\n", note);
    cli.run("weight +5").expect_output(0, "shop/shop: v2 12.5% -> 17.5% (generation 3)\n", note);
    cli.run("weight -r shop -20").expect_output(0, "shop/shop: v2 17.5% -> 0% (generation 4)\n", note);
    cli.run("weight 1").expect_output(0, "shop/shop: v2 0% -> 1% (generation 5)\n", note);
    cli.run("weight 1").expect_output(0, "shop/shop: v2 has 1% already (generation 5)\n", note);
    let mut after = configuration(&cli);
    let release = after.releases.get_mut("shop/shop").unwrap();
    assert_eq!((release.generation, release.weight.basis_points()), (5, 100));
    (release.generation, release.weight) = (1, assignment::Weight::ZERO);
    assert_eq!(after, before);
    assert_eq!((cli.read("local/rds.yaml"), cli.read("local/cds.yaml")), (routes, clusters));
}

#[test]
fn an_edit_that_moves_users_is_refused_until_the_check_is_skipped() {
    let cli = generated();
    assert_eq!(cli.run("weight 50 --skip-check max-step").code, 0);
    let before = cli.read("local/state.json");
    let text = cli.read("canary.yaml");
    for (from, to, expected) in [
        ("cookie: JSESSIONID", "cookie: OTHER", None),
        ("  delivery:\n", "  cookies: {domain: example.com}\n  delivery:\n", Some("`cookies` moves 48%")),
        ("stickiness: session", "stickiness: user", Some("`stickiness` moves")),
    ] {
        cli.write("canary.yaml", &text.replacen(from, to, 1));
        for command in ["generate --dry-run", "generate"] {
            let ran = cli.run(command);
            match expected {
                None => assert_eq!(ran.code, 0, "{to}: {}", ran.stderr),
                Some(said) => {
                    assert_eq!(ran.code, 2, "{to}: {}", ran.stderr);
                    assert!(
                        ran.stderr.contains(said) && ran.stderr.contains("moves-users"),
                        "{}",
                        ran.stderr
                    );
                    assert_eq!(cli.read("local/state.json"), before, "{to}");
                }
            }
        }
        assert_eq!(cli.run("generate --skip-check moves-users").code, 0);
        cli.write("canary.yaml", &text);
        assert_eq!(cli.run("generate --skip-check moves-users").code, 0);
        cli.write("local/state.json", &before);
    }
}

#[test]
fn a_dry_weight_changes_nothing() {
    let cli = generated();
    let state = cli.read("local/state.json");
    cli.run("weight 20 --dry-run").expect_output(0, "shop/shop: v2 would be 0% -> 20% (generation 2)\n", "");
    assert_eq!(cli.read("local/state.json"), state);
}

#[test]
fn a_large_step_up_is_refused_and_any_step_down_is_not() {
    let cli = generated();
    cli.run("weight 60").expect_output(
        2,
        "",
        "error: expected a step of at most 50%, found 0% to 60%\n  hint: take smaller steps, change `maxStep`, or give `--skip-check max-step`\n",
    );
    assert_eq!(cli.run("weight 100 --skip-check max-step").code, 0);
    assert_eq!(cli.run("weight 0").code, 0);
}

#[test]
fn a_wait_without_a_running_envoy_is_refused_before_the_first_write() {
    let cli = generated();
    let ran = cli.run("weight 20 --wait");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let reason = "nothing was written: `--wait` needs a running Envoy\nerror: Envoy does not answer on its admin address 127.0.0.1:9";
    assert!(ran.stderr.starts_with(reason), "{}", ran.stderr);
    assert_eq!(configuration(&cli).releases["shop/shop"].generation, 1);
}

#[test]
fn a_weight_on_an_outdated_generation_is_refused() {
    let cli = generated();
    cli.run("weight 10");
    cli.run("weight 20 --expect-generation 1").expect_output(
        2,
        "",
        "error: expected generation 1 of `shop/shop`, found 2: it was changed concurrently\n  hint: look at `canary-ctl status` and try again\n",
    );
}

#[test]
fn a_weight_for_a_while_ends_by_itself() {
    let cli = generated();
    let ran = cli.run("weight 20 --expires-in 2h -o json");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let until: jiff::Timestamp = report["until"].as_str().unwrap().parse().unwrap();
    let seconds = configuration(&cli).releases["shop/shop"].until.unwrap().at_seconds;
    assert_eq!(i64::try_from(seconds).unwrap(), until.as_second());
    let left = until.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((7100..=7200).contains(&left), "{left}");
}

/// A checkout gives its files the mode 644.
#[test]
fn keys_state_and_lock_of_a_checked_out_directory_are_not_followed() {
    let cli = generated();
    let keys = cli.path("local/signing-keys.json");
    let refused = |verb: &str, expected: &str| {
        let ran = cli.run(verb);
        assert!(ran.code == 2 && ran.stderr.starts_with(&format!("error: {expected}")), "{verb}: {ran:?}");
    };
    set_permissions(&keys, Permissions::from_mode(0o644)).unwrap();
    for verb in ["generate", "weight 30", "explain --host localhost", "token create --version v2"] {
        refused(
            verb,
            "expected signing keys of this user alone in local/signing-keys.json, found a file of user ",
        );
    }
    set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
    let (state, lock) = (cli.path("local/state.json"), cli.path("local/lock"));
    std::fs::remove_file(&state).unwrap();
    symlink("/dev/zero", &state).unwrap();
    for verb in ["generate", "weight 30", "status"] {
        refused(verb, "cannot read local/state.json: expected a regular file, found another kind");
    }
    std::fs::remove_file(&lock).unwrap();
    symlink(cli.path("elsewhere"), &lock).unwrap();
    refused("generate", "cannot open local/lock: ");
    assert!(!cli.path("elsewhere").exists());
}

#[test]
fn a_second_generate_keeps_uid_keys_and_weight() {
    let cli = generated();
    cli.run("weight 20");
    let (before, keys) = (configuration(&cli), cli.read("local/signing-keys.json"));
    assert_eq!(cli.run("generate").code, 0);
    let after = configuration(&cli);
    let (before, after) = (&before.releases["shop/shop"], &after.releases["shop/shop"]);
    assert_eq!((&after.uid, after.weight, after.generation), (&before.uid, before.weight, 3));
    assert_eq!(cli.read("local/signing-keys.json"), keys);
}

#[test]
fn a_call_that_was_killed_between_state_and_configuration_is_finished_by_the_next() {
    let cli = generated();
    let old = cli.read("local/ecds.yaml");
    cli.run("weight 20");
    // The state is written first: killed behind it, the call leaves the old configuration.
    cli.write("local/ecds.yaml", &old).write("local/.state.json.Xy1234", "half a st");
    assert_eq!(cli.run("generate").code, 0);
    let release = &configuration(&cli).releases["shop/shop"];
    assert_eq!((release.generation, release.weight.basis_points()), (3, 2000));
}

#[test]
fn a_state_of_another_shape_is_refused_and_left_alone() {
    let cli = generated();
    cli.write("local/state.json", "{}");
    let ran = cli.run("weight 20");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: expected the state as JSON in local/state.json"),
        "{}",
        ran.stderr
    );
    assert_eq!(cli.read("local/state.json"), "{}");
}

#[test]
fn releases_of_one_directory_share_its_envoy_and_keep_apart() {
    let cli = generated();
    let blog = release()
        .replace("name: shop\n  namespace", "name: blog\n  namespace")
        .replace("shop.example", "blog.example");
    cli.write("blog.yaml", &blog);
    assert_eq!(cli.run("generate -f blog.yaml").code, 0);
    assert_eq!(cli.run("weight 30 -r blog").code, 0);
    let config = configuration(&cli);
    let weight = |name: &str| config.releases[name].weight.basis_points();
    assert_eq!((weight("shop/blog"), weight("shop/shop")), (3000, 0));
    cli.write("other.yaml", &blog.replace("name: blog\n", "name: wiki\n").replace(":8080", ":8081"));
    let refused = cli.run("generate -f other.yaml");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("has another delivery.local.listen"), "{}", refused.stderr);
}

/// Two releases of one directory, in `canary.yaml` and `blog.yaml`, with this debug header.
fn two_releases(debug_header: &str) -> [String; 2] {
    let text = release().replace("    module:", &format!("    debugHeader: {debug_header}\n    module:"));
    let blog = text
        .replace("name: shop\n  namespace", "name: blog\n  namespace")
        .replace("shop.example", "blog.example");
    [text, blog]
}

/// Both generated, then the first file with another debug header and module: refused alone.
fn changed_alone() -> CliFixture {
    let cli = CliFixture::new();
    let [shop, blog] = two_releases("x-old");
    cli.write("canary.yaml", &shop).write("blog.yaml", &blog);
    let both = cli.run("generate -f canary.yaml -f blog.yaml");
    assert_eq!(both.code, 0, "{both:?}");
    let [shop, _] = two_releases("x-new");
    cli.write("canary.yaml", &shop.replace("/opt/canary_filter.wasm", "/opt/new.wasm"));
    let before = cli.read("local/ecds.yaml");
    cli.run("generate").expect_output(
        2,
        "",
        "error: `shop/blog` in the same directory has another delivery.module\n  hint: change it in the files of all releases and give \
         them in one call (`canary-ctl generate -f FILE -f FILE`), take the other release out (`canary-ctl uninstall -r shop/blog`), or \
         give this one a `delivery.local.directory` of its own\n",
    );
    assert_eq!(cli.read("local/ecds.yaml"), before, "a refusal writes nothing");
    cli
}

#[test]
fn what_releases_of_a_directory_share_is_changed_with_all_files_in_one_call() {
    let cli = changed_alone();
    let [_, blog] = two_releases("x-new");
    cli.write("blog.yaml", &blog.replace("/opt/canary_filter.wasm", "/opt/new.wasm"));
    let both = cli.run("generate -f canary.yaml -f blog.yaml");
    let (written, start) =
        ("generation 2 written to local", "  hint: `envoy --config-path local/envoy.yaml` starts Envoy");
    both.expect_output(0, "", &format!("shop/shop: {written}\nshop/blog: {written}\n{start}\n"));
    assert_eq!(configuration(&cli).debug_header.as_deref(), Some("x-new"));
    assert!(cli.read("local/ecds.yaml").contains("/opt/new.wasm"), "the new module");
}

#[test]
fn a_release_is_taken_out_of_its_directory_and_the_rest_can_change() {
    let cli = changed_alone();
    let kept = "shop/blog: would be taken out of local, where shop/shop remains; its keys stay\n";
    cli.run("uninstall -r shop/blog --dry-run").expect_output(0, kept, "");
    cli.run("uninstall -r shop/blog").expect_output(0, &kept.replace("would be ", ""), "");
    let names: Vec<String> = configuration(&cli).releases.into_keys().collect();
    assert_eq!(names, ["shop/shop"]);
    for file in ["local/rds.yaml", "local/cds.yaml", "local/ecds.yaml", "local/state.json"] {
        assert_eq!(cli.read(file).lines().find(|line| line.contains("shop/blog")), None, "{file}");
    }
    assert_eq!(cli.run("generate").code, 0);
    assert_eq!(configuration(&cli).debug_header.as_deref(), Some("x-new"));
}

#[test]
fn a_release_with_a_directory_of_its_own_shares_nothing() {
    let cli = changed_alone();
    cli.write("canary.yaml", &cli.read("canary.yaml").replace("directory: local", "directory: own"));
    assert_eq!(cli.run("generate").code, 0);
    assert!(cli.read("own/ecds.yaml").contains("/opt/new.wasm"), "{}", cli.read("own/ecds.yaml"));
}

#[test]
fn the_last_release_leaves_a_filter_without_releases_and_returns_above_its_old_generation() {
    let cli = generated();
    cli.run("weight 10");
    let empty = "shop/shop: taken out of local, where no release remains; its keys stay\n";
    cli.run("uninstall").expect_output(0, empty, "");
    assert_eq!(configuration(&cli).releases.len(), 0);
    assert!(cli.read("local/ecds.yaml").contains("/opt/canary_filter.wasm"), "the module stays");
    let again = cli.run("uninstall");
    assert_eq!((again.code, again.stdout.as_str()), (2, ""), "{again:?}");
    cli.run("generate");
    // A running Envoy still reports generation 2 of this name: a wait for a lower one would end at once.
    assert_eq!(configuration(&cli).releases["shop/shop"].generation, 3);
}

#[test]
fn the_status_says_where_secure_cookies_cannot_come_back() {
    let cli = generated();
    let secure = "problem: Envoy listens without TLS, and its `Secure` cookies";
    let told = |cli: &CliFixture| cli.run("status").stdout.contains(secure);
    assert!(told(&cli), "{:?}", cli.run("status"));
    let text = release().replace("  delivery:\n", "  cookies: {tls: false}\n  delivery:\n");
    cli.write("canary.yaml", &text);
    cli.run("generate");
    assert!(!told(&cli), "{:?}", cli.run("status"));
}

#[test]
fn a_release_that_was_never_generated_is_named_with_those_that_were() {
    let cli = generated();
    cli.run("status -r nope").expect_output(
        2,
        "",
        "error: release `shop/nope` is not known in local\n  hint: known there: shop/shop\n",
    );
}

#[test]
fn the_status_without_an_envoy_shows_the_desired_state_and_that_envoy_is_unreachable() {
    let cli = generated();
    cli.run("status").expect_output(
        0,
        "shop/shop: weight 0%, seen -
generation 1 asked, none running

VERSION  ROLE    EPOCH  HEALTHY  REQUESTS  SHARE  5XX
v1       stable  1      -        0         -      0
v2       canary  1      -        0         -      0

problem: Envoy does not answer on its admin address 127.0.0.1:9: Connection refused (os error 111)
  hint: start Envoy with the envoy.yaml of the directory, or look at its log

problem: Envoy listens without TLS, and its `Secure` cookies come back from browsers on localhost alone: other clients change versions
  hint: set `cookies: {tls: false}`, and `canary-ctl generate`\n",
        "",
    );
    let status: serde_json::Value = serde_json::from_str(&cli.run("status -o json").stdout).unwrap();
    let ids: Vec<&str> =
        status["problems"].as_array().unwrap().iter().filter_map(|problem| problem["id"].as_str()).collect();
    assert_eq!(ids, ["not-observed", "cookies-without-tls"]);
}

#[tokio::test]
async fn a_version_that_leaves_the_file_is_gone_with_its_pins_and_its_routes() {
    let cli = generated();
    let read = |text: &str| file::parse(&cli.path("canary.yaml"), text).unwrap().release;
    let without =
        release().replace("    canary: v2\n", "").replace(", v2: [127.0.0.1:9002, 127.0.0.1:9003]", "");
    let environment = Environment::generate(&read(&without)).await.unwrap();
    let config = configuration(&cli);
    let gone = &config.releases["shop/shop"].gone;
    assert_eq!((gone[0].name.as_str(), gone[0].epoch), ("v2", 1));
    for file in ["local/rds.yaml", "local/cds.yaml"] {
        assert_eq!(cli.read(file).lines().find(|line| line.contains("v2")), None, "{file}");
    }
    Environment::generate(&read(&release())).await.unwrap();
    let state: State = environment.state().unwrap();
    let again = &state.releases["shop/shop"].state;
    assert_eq!(again.versions.iter().find(|version| version.name == "v2").unwrap().epoch, 2);
}

#[test]
fn an_embedded_module_is_a_file_beside_envoys() {
    let cli = CliFixture::new();
    let line = "init --local --name shop --host localhost --session-cookie SID --canary v2 \
        --endpoint v1=127.0.0.1:9001 --endpoint v2=127.0.0.1:9002";
    assert_eq!(cli.run(line).code, 0);
    let ran = cli.run("generate");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let path = cli.path(".canary/canary_filter.wasm");
    assert!(std::fs::read(&path).unwrap().starts_with(b"\0asm"));
    let named = format!("filename: {}", path.display());
    assert!(cli.read(".canary/ecds.yaml").contains(&named), "{named}");
}
