//! `examples/monitoring` on the filter's real counters: a real Prometheus scrapes a real Envoy, and each query of the dashboard has
//! data. That each alert fires, and only then, is `rules_test.yaml` beside the rules.

use std::path::Path;
use std::process::Command;

use browser::load::{LoadProfile, run};
use envoy_kit::newest;
use programs::artifact;
use serde_json::{Value, json};
use wasm_tests::prometheus::{Prometheus, dashboard_queries, monitoring, texts};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, Pods};

use crate::support::{Place, SHOP, insert_lua};

#[test]
fn each_alert_fires_where_it_should_and_nowhere_else() {
    let mut promtool = Command::new(artifact::promtool().expect("promtool"));
    let tested = promtool.args(["test", "rules", "rules_test.yaml"]).current_dir(monitoring()).output();
    let tested = tested.expect("promtool runs");
    let text = String::from_utf8_lossy(&tested.stdout) + String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success(), "{text}");
    let tests = std::fs::read_to_string(monitoring().join("rules_test.yaml")).expect("tests of rules");
    for alert in names_of("alert") {
        assert!(tests.contains(&format!("alertname: {alert}\n")), "no test of {alert}");
    }
}

#[test]
fn the_object_for_the_prometheus_operator_has_the_same_groups() {
    let rules = yaml("rules.yaml");
    assert_eq!(yaml("prometheus-rule.yaml")["spec"]["groups"], rules["groups"]);
    assert!(rules["groups"].as_array().is_some_and(|groups| groups.len() == 2), "{rules}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_query_of_the_dashboard_has_data_and_a_canary_that_fails_raises_the_alert() {
    let pods = Pods::start().await.expect("pods start");
    // Without a fuse: the canary is to get its share although it fails.
    let document = Document::session("shop")
        .with("/spec/weight", "50")
        .with("/spec/latencyHistogram", true)
        .with("/spec/fuse", false);
    let setup = EnvoySetup { bootstrap: canary_fails, ..EnvoySetup::of([document]) };
    let fixture = EnvoyFixture::start(&newest().expect("Envoy"), setup, &pods).await.expect("a fixture");
    let prometheus =
        Prometheus::start(fixture.admin().address(), Some(&monitoring().join("rules.yaml"))).await;

    // A rate needs a series before its increase: the first users make the series, those after them are counted.
    run(fixture.users(50), &LoadProfile::navigate("/", 1)).await;
    prometheus.wait_for("canary_responses_total{tag=\"v2/canary/5xx\"}").await;
    run(fixture.users(1_000), &LoadProfile::navigate("/", 1)).await;

    for name in names_of("record") {
        prometheus.wait_for(name.as_str()).await;
    }
    let queries = dashboard_queries();
    assert_eq!(queries.len(), 10, "{queries:?}");
    for query in queries {
        prometheus.wait_for(&query).await;
    }
    let alert = prometheus.wait_for(&rule("alert", "CanaryFailsMore")).await;
    assert_eq!(alert[0]["metric"]["release"], SHOP, "{alert}");
    let seen = prometheus.wait_for("canary:new_sessions:ratio_rate5m").await;
    let share: f64 = seen[0]["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a number");
    assert!((0.4..0.6).contains(&share), "{share} of the new sessions at a weight of 50 %");
    for alert in names_of("alert").into_iter().filter(|name| name != "CanaryFailsMore") {
        let found = prometheus.query(&rule("alert", &alert));
        assert_eq!(found, json!([]), "{alert} without a reason");
    }
}

/// A Lua filter after ours that answers 503 for the canary.
fn canary_fails(bootstrap: &mut Value, _folder: &Path) {
    let script = "function envoy_on_request(handle)\n\
           local version = handle:headers():get('x-canary-version')\n\
           if version and string.find(version, '/v2$') then handle:respond({[':status'] = '503'}, '') end\n\
         end";
    insert_lua(bootstrap, Place::Last, script);
}

fn text(file: &str) -> String {
    std::fs::read_to_string(monitoring().join(file)).expect("an example")
}

fn yaml(file: &str) -> Value {
    serde_saphyr::from_str(&text(file)).expect("YAML")
}

/// The rules' names: `kind` is `record` or `alert`.
fn names_of(kind: &str) -> Vec<String> {
    texts(&yaml("rules.yaml"), kind).into_iter().map(str::to_owned).collect()
}

/// The query of a rule.
fn rule(kind: &str, name: &str) -> String {
    let rules = yaml("rules.yaml");
    let groups = rules["groups"].as_array().expect("groups").iter();
    let mut rules = groups.flat_map(|group| group["rules"].as_array().expect("rules"));
    let rule = rules.find(|rule| rule[kind] == name).expect("a rule");
    rule["expr"].as_str().expect("a query").to_owned()
}
