//! The local target without an Envoy: what is written, what is refused, and what stays as it was.

use crate::kit::{Desk, golden, repository};
use assignment::FilterConfig;
use canary_ctl::local::{Environment, State};
use canary_ctl::{spec, yaml};

/// Port 9 discards, and nobody listens there: no Envoy runs.
fn release() -> String {
    let text = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    let (head, _) = text.split_once("  # How the filter").unwrap();
    format!(
        "{head}  delivery:\n    mode: local\n    module: /opt/canary_filter.wasm\n    local:\n      directory: local\n\
         \x20     listen: 127.0.0.1:8080\n      admin: 127.0.0.1:9\n\
         \x20     endpoints: {{v1: [127.0.0.1:9001], v2: [127.0.0.1:9002, 127.0.0.1:9003]}}\n"
    )
}

fn generated() -> Desk {
    let desk = Desk::new();
    desk.write("canary.yaml", &release());
    desk.run("generate").says(
        0,
        "",
        "shop/shop: generation 1 written to local\n  hint: envoy --config-path local/envoy.yaml\n",
    );
    desk
}

/// The filter's configuration as Envoy would hand it over.
fn configuration(desk: &Desk) -> FilterConfig {
    let root = yaml::parse(&desk.read("local/ecds.yaml")).unwrap();
    let yaml::Value::Sequence(resources) = &root.get("resources").unwrap().value else { panic!() };
    let config = resources[0].get("typed_config").and_then(|node| node.get("config")).unwrap();
    let value = config.get("configuration").and_then(|node| node.get("value")).unwrap();
    let yaml::Value::Scalar(json, _) = &value.value else { panic!() };
    FilterConfig::from_json_strict(json.as_bytes()).unwrap()
}

#[test]
fn a_dry_run_prints_the_files_and_writes_nothing() {
    let desk = Desk::new();
    desk.write("canary.yaml", &release());
    let ran = desk.run("generate --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!desk.path("local").exists());
    let folder = std::path::absolute(desk.path("local")).unwrap().display().to_string();
    let after = |mark: &str, length: usize| ran.stdout.split(mark).nth(1).unwrap()[..length].to_owned();
    let (uid, now) = (after("\"uid\":\"", 12), after("\"installedAtSeconds\":", 10));
    let text = ran.stdout.replace(&folder, "DIRECTORY").replace(&uid, "UID").replace(&now, "NOW");
    golden("generate-local.yaml", &text);
}

#[test]
fn a_weight_is_the_only_thing_that_a_weight_changes() {
    let desk = generated();
    let before = configuration(&desk);
    let (routes, clusters) = (desk.read("local/rds.yaml"), desk.read("local/cds.yaml"));
    let note = "no Envoy is running; it will begin with this weight\n";
    desk.run("weight 12.5").says(0, "shop/shop: v2 0% -> 12.5% (generation 2)\n", note);
    desk.run("weight +5").says(0, "shop/shop: v2 12.5% -> 17.5% (generation 3)\n", note);
    desk.run("weight -r shop -20").says(0, "shop/shop: v2 17.5% -> 0% (generation 4)\n", note);
    desk.run("weight 1").says(0, "shop/shop: v2 0% -> 1% (generation 5)\n", note);
    let mut after = configuration(&desk);
    let release = after.releases.get_mut("shop/shop").unwrap();
    assert_eq!((release.generation, release.weight.basis_points()), (5, 100));
    (release.generation, release.weight) = (1, assignment::Weight::ZERO);
    assert_eq!(after, before);
    assert_eq!((desk.read("local/rds.yaml"), desk.read("local/cds.yaml")), (routes, clusters));
}

#[test]
fn a_dry_weight_changes_nothing() {
    let desk = generated();
    let state = desk.read("local/state.json");
    desk.run("weight 20 --dry-run").says(0, "shop/shop: v2 would be 0% -> 20% (generation 2)\n", "");
    assert_eq!(desk.read("local/state.json"), state);
}

#[test]
fn a_large_step_up_is_refused_and_any_step_down_is_not() {
    let desk = generated();
    desk.run("weight 60").says(
        2,
        "",
        "error: expected a step of at most 50%, found 0% to 60%\n  hint: take smaller steps, change `maxStep`, or give `--skip-check max-step`\n",
    );
    assert_eq!(desk.run("weight 100 --skip-check max-step").code, 0);
    assert_eq!(desk.run("weight 0").code, 0);
}

#[test]
fn who_wants_to_wait_is_told_before_anything_is_written() {
    let desk = generated();
    let ran = desk.run("weight 20 --wait");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: Envoy does not answer on its admin address 127.0.0.1:9"));
    assert_eq!(configuration(&desk).releases["shop/shop"].generation, 1);
}

#[test]
fn a_change_on_top_of_somebody_elses_is_refused() {
    let desk = generated();
    desk.run("weight 10");
    desk.run("weight 20 --expect-generation 1").says(
        2,
        "",
        "error: expected generation 1 of `shop/shop`, found 2: somebody else has changed it\n  hint: look at `canary-ctl status` and try again\n",
    );
}

#[test]
fn a_weight_for_a_while_ends_by_itself() {
    let desk = generated();
    let ran = desk.run("weight 20 --for 2h -o json");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let until: jiff::Timestamp = report["until"].as_str().unwrap().parse().unwrap();
    let seconds = configuration(&desk).releases["shop/shop"].until.unwrap().at_seconds;
    assert_eq!(i64::try_from(seconds).unwrap(), until.as_second());
    let left = until.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((7100..=7200).contains(&left), "{left}");
}

#[test]
fn a_second_generate_keeps_uid_keys_and_weight() {
    let desk = generated();
    desk.run("weight 20");
    let (before, keys) = (configuration(&desk), desk.read("local/keys.json"));
    assert_eq!(desk.run("generate").code, 0);
    let after = configuration(&desk);
    let (before, after) = (&before.releases["shop/shop"], &after.releases["shop/shop"]);
    assert_eq!((&after.uid, after.weight, after.generation), (&before.uid, before.weight, 3));
    assert_eq!(desk.read("local/keys.json"), keys);
}

#[test]
fn a_call_that_was_killed_between_state_and_configuration_is_finished_by_the_next() {
    let desk = generated();
    let old = desk.read("local/ecds.yaml");
    desk.run("weight 20");
    // The state is written first: killed behind it, the call leaves the old configuration.
    desk.write("local/ecds.yaml", &old).write("local/state.tmp", "half a st");
    assert_eq!(desk.run("generate").code, 0);
    let release = &configuration(&desk).releases["shop/shop"];
    assert_eq!((release.generation, release.weight.basis_points()), (3, 2000));
}

#[test]
fn a_state_of_another_shape_is_refused_and_left_alone() {
    let desk = generated();
    desk.write("local/state.json", "{}");
    let ran = desk.run("weight 20");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: expected the state as JSON in local/state.json"),
        "{}",
        ran.stderr
    );
    assert_eq!(desk.read("local/state.json"), "{}");
}

#[test]
fn releases_of_one_directory_share_its_envoy_and_keep_apart() {
    let desk = generated();
    let blog = release()
        .replace("name: shop\n  namespace", "name: blog\n  namespace")
        .replace("shop.example", "blog.example");
    desk.write("blog.yaml", &blog);
    assert_eq!(desk.run("generate -f blog.yaml").code, 0);
    assert_eq!(desk.run("weight 30 -r blog").code, 0);
    let config = configuration(&desk);
    let weight = |name: &str| config.releases[name].weight.basis_points();
    assert_eq!((weight("shop/blog"), weight("shop/shop")), (3000, 0));
    desk.write("other.yaml", &blog.replace("name: blog\n", "name: wiki\n").replace(":8080", ":8081"));
    let refused = desk.run("generate -f other.yaml");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("has another delivery.local.listen"), "{}", refused.stderr);
}

#[test]
fn a_release_that_was_never_generated_is_named_with_those_that_were() {
    let desk = generated();
    desk.run("status -r nope").says(
        2,
        "",
        "error: release `shop/nope` is not known in local\n  hint: known there: shop/shop\n",
    );
}

#[test]
fn the_status_without_an_envoy_is_what_was_asked_and_that_nobody_answers() {
    let desk = generated();
    desk.run("status").says(
        0,
        "shop/shop: weight 0%, seen -
generation 1 asked, none running

VERSION  ROLE    EPOCH  HEALTHY  REQUESTS  SHARE  5XX
v1       stable  1      -        0         -      0
v2       canary  1      -        0         -      0

problem: Envoy does not answer on its admin address 127.0.0.1:9: Connection refused (os error 111)
  hint: start Envoy with the envoy.yaml of the directory, or look at its log\n",
        "",
    );
}

#[tokio::test]
async fn a_version_that_leaves_the_file_is_gone_with_its_pins_and_its_routes() {
    let desk = generated();
    let read = |text: &str| spec::parse(&desk.path("canary.yaml"), text).unwrap().release;
    let without =
        release().replace("    canary: v2\n", "").replace(", v2: [127.0.0.1:9002, 127.0.0.1:9003]", "");
    let environment = Environment::generate(&read(&without)).await.unwrap();
    let config = configuration(&desk);
    let gone = &config.releases["shop/shop"].gone;
    assert_eq!((gone[0].name.as_str(), gone[0].epoch), ("v2", 1));
    assert!(!desk.read("local/rds.yaml").contains("v2") && !desk.read("local/cds.yaml").contains("v2"));
    Environment::generate(&read(&release())).await.unwrap();
    let state: State = environment.state().unwrap();
    let again = &state.releases["shop/shop"].standing;
    assert_eq!(again.versions.iter().find(|version| version.name == "v2").unwrap().epoch, 2);
}
