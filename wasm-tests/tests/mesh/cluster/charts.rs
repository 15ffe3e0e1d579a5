//! A VirtualService that belongs to somebody else, who upgrades it while the canary is at 20 %: users notice nothing, and
//! we have nothing to repair.

use super::chart::{Chart, Owner, virtual_service};
use super::operator::Operator;
use crate::support::in_the_mesh;
use serde_json::{Value, json};
use wasm_tests::client::User;
use wasm_tests::lab::{Helm, Stage, StageOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};

const SESSIONS: usize = 100;

#[test]
fn an_upgrade_of_a_chart_by_helm_3_moves_nobody() {
    upgraded("chart-helm3", Owner::Helm(Helm::Three));
}

#[test]
fn an_upgrade_of_a_chart_by_helm_4_moves_nobody() {
    upgraded("chart-helm4", Owner::Helm(Helm::Four));
}

#[test]
fn an_upgrade_by_kubectl_moves_nobody() {
    upgraded("chart-kubectl", Owner::Kubectl);
}

#[test]
fn an_upgrade_by_argo_cd_moves_nobody() {
    upgraded("chart-argo", Owner::ArgoCdServerSide);
}

fn upgraded(name: &str, owner: Owner) {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, name, &StageOptions::gateway()).await.unwrap();
        let release = stage
            .release()
            .unwrap()
            .with("/spec/routes", "external")
            .with("/spec/podAffinity", "identity")
            .with("/spec/weight", "0");
        let operator = Operator::new(lab, &release);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        operator.is_told("weight 20", 2, &["no-routes"]).await;
        let chart = Chart::new(lab, &stage.namespace);
        let routes = |timeout| [with_ours(&stage, &release, timeout)];
        chart.comes(owner, &routes("5s")).await.unwrap();
        lab.until("the way to the shop", async || {
            stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await
        .unwrap();
        operator.is_told("weight 20 --wait", 0, &["0% -> 20%"]).await;
        let mut sessions = Sessions::default();
        let people: Vec<User> = (0..SESSIONS).map(|_| stage.user()).collect();
        let (on_canary, faults) = sessions.begin(people).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.set_out(SESSIONS / 2);
        chart.comes(owner, &routes("7s")).await.unwrap();
        assert_eq!(sessions.settle(moving).await.expect("they come back"), Faults::default(), "{owner:?}");
        assert_eq!(sessions.come_back(true).await, Faults::default(), "{owner:?}");
        assert_eq!(chart.timeout().await, "7s", "theirs is theirs");
        operator.is_told("diff", 0, &[]).await;
        operator.is_told("weight 10 --wait", 0, &["20% -> 10%"]).await;
        assert_eq!(chart.timeout().await, "7s");
        let said = operator.is_told("status", 0, &["weight 10%"]).await;
        assert!(!said.data.contains("problem:"), "{said:?}");
    });
}

/// The VirtualService of the shop, into which its people have put our routes.
fn with_ours(stage: &Stage, release: &Document, timeout: &str) -> Value {
    let host = format!("shop.{}.svc.cluster.local", stage.namespace);
    let to =
        |version: &str| json!([{"destination": {"host": host, "subset": version, "port": {"number": 80}}}]);
    let by_header = |version: &str| {
        let header = json!({"x-canary-version": {"exact": format!("{}/{version}", release.name())}});
        json!({"match": [{"headers": header}], "route": to(version), "timeout": timeout})
    };
    let default = json!({"route": to("v1"), "timeout": timeout});
    virtual_service(stage, "shop", &json!([by_header("v1"), by_header("v2"), default]))
}
