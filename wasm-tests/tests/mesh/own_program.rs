//! An application that the lab has no image of runs from a ConfigMap, as `docs/istio.md` says, and has a canary.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use programs::artifact;
use serde_json::json;
use std::collections::BTreeSet;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

const NAMESPACE: &str = "counter";

#[test]
fn a_program_from_a_config_map_has_a_canary_and_no_session_loses_its_count() {
    in_the_mesh(async |lab| {
        let options = ShopEnvOptions { shop: false, ..ShopEnvOptions::gateway() };
        let env = ShopEnv::set_up(lab, NAMESPACE, &options).await.unwrap();
        let file = artifact::root().join("examples/own-program/app.yaml");
        lab.kubectl(&["apply", "-n", NAMESPACE, "-f", file.to_str().unwrap()]).await.unwrap();
        for version in ["v1", "v2"] {
            lab.rolled_out(NAMESPACE, &format!("counter-{version}")).await.unwrap();
        }
        let release = env.release().unwrap().with("/spec/service/name", "counter");
        let release = release.with("/spec/session/cookie", "sid").with("/spec/maxStep", "100");
        let release = release.with("/spec/identifyBy", json!([{"cookie": "sid"}]));
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &[]).await;
        cli.expect("weight 50 --wait", 0, &[]).await;

        let mut versions = BTreeSet::new();
        for _ in 0..20 {
            let mut user = env.user();
            let mut visits = Vec::new();
            for _ in 0..3 {
                visits.push(user.navigate("/").await.unwrap().text());
            }
            let version = visits[0].split(':').next().unwrap().to_owned();
            let expected: Vec<String> = (1..=3).map(|visit| format!("{version}: visit {visit}\n")).collect();
            assert_eq!(visits, expected);
            versions.insert(version);
        }
        assert_eq!(versions, ["v1", "v2"].map(str::to_owned).into(), "at weight 50");
    });
}
