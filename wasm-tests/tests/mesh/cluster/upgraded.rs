//! Owners of charts, who upgrade them while the canary is at 20 % under load and our routes stand beside theirs, or within
//! them. (`charts.rs` has those who have put our routes into theirs themselves.)

use super::chart::{Chart, Owner, virtual_service};
use super::operator::Operator;
use super::scene::Scene;
use crate::support::in_the_mesh;
use serde_json::{Value, json};
use std::time::Duration;
use wasm_tests::lab::{Helm, LabError, Stage};
use wasm_tests::scenario::{Document, Faults, HOST, Sessions};

const SESSIONS: usize = 60;
const OWNERS: [Owner; 4] =
    [Owner::Helm(Helm::Three), Owner::Helm(Helm::Four), Owner::ArgoCd, Owner::ArgoCdServerSide];

/// What a chart has beside the release: an answer of its own for a path.
fn help(stage: &Stage, number: usize, status: u16) -> Value {
    let path = json!([{"uri": {"prefix": format!("/help-{number}")}}]);
    let http = json!([{"match": path, "directResponse": {"status": status}}]);
    virtual_service(stage, &format!("shop-help-{number}"), &http)
}

/// And what its shop asks for.
fn policy(stage: &Stage, timeout: &str) -> Value {
    rule(stage, &json!({"trafficPolicy": {"connectionPool": {"tcp": {"connectTimeout": timeout}}}}))
}

fn rule(stage: &Stage, with: &Value) -> Value {
    let mut rule = json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": {"name": "shop", "namespace": stage.namespace},
        "spec": with,
    });
    rule["spec"]["host"] = json!(format!("shop.{}.svc.cluster.local", stage.namespace));
    rule
}

#[test]
fn beside_routes_and_a_rule_of_theirs_no_upgrade_moves_anybody_and_diff_says_what_to_follow() {
    in_the_mesh(async |lab| {
        let with =
            |document: Document| document.with("/spec/routes", "own").with("/spec/podAffinity", "identity");
        let scene = Scene::set_up(lab, "own-charts", with).await;
        let stage = &scene.stage;
        let operator = Operator::new(lab, &scene.document);
        let mut charts = Vec::new();
        for (number, owner) in OWNERS.into_iter().enumerate() {
            let chart = Chart::called(lab, &format!("shop-{number}"), &stage.namespace);
            chart.comes(owner, &[help(stage, number, 418)]).await.unwrap();
            charts.push((number, owner, chart));
        }
        // Objects are as old as seconds can tell.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        scene.answers(HOST).await;
        operator.is_told("weight 20 --wait", 0, &["0% -> 20%"]).await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.begin(scene.users(SESSIONS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.set_out(SESSIONS / 2);
        for (number, owner, chart) in &charts {
            for (timeout, status) in [("5s", 419), ("7s", 410)] {
                let objects = [help(stage, *number, status), policy(stage, timeout)];
                chart.comes(*owner, &objects).await.unwrap();
                lab.until("their answer", async || {
                    let answer = scene.user_at(HOST).navigate(&format!("/help-{number}")).await.ok()?;
                    (answer.status == status).then_some(())
                })
                .await
                .unwrap();
                operator.is_told("diff", 1, &["spec.trafficPolicy", &format!("\"{timeout}\"")]).await;
                operator.is_told("apply --wait", 0, &["1 objects written"]).await;
                operator.is_told("diff", 0, &[]).await;
            }
            chart.leaves_out(*owner, &[help(stage, *number, 410)], &[policy(stage, "7s")]).await;
            operator.is_told("apply", 0, &["1 objects written"]).await;
            assert_eq!(sessions.come_back(false).await, Faults::default(), "{owner:?}");
        }
        assert_eq!(sessions.settle(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.come_back(true).await, Faults::default());
        let said = operator.is_told("status", 0, &["weight 20%"]).await;
        assert!(!said.data.contains("problem:"), "{said:?}");
    });
}

/// A chart that has the shop's routes to itself.
fn alone(stage: &Stage, timeout: &str) -> Vec<Value> {
    let shop = format!("shop.{}.svc.cluster.local", stage.namespace);
    let to_stable = json!([{"destination": {"host": shop, "subset": "v1"}}]);
    let routes = virtual_service(stage, "shop", &json!([{"route": to_stable, "timeout": timeout}]));
    vec![routes, rule(stage, &json!({"subsets": [{"name": "v1", "labels": {"version": "v1"}}]}))]
}

/// Who applies as another manager without force is refused; who forces it, or knows no managers, takes our routes out.
fn takes_routes_out(owner: Owner) -> bool {
    owner != Owner::Helm(Helm::Four)
}

#[test]
fn an_upgrade_of_what_was_edited_is_refused_or_reported_at_once_and_everybody_is_on_stable_meanwhile() {
    in_the_mesh(async |lab| {
        let with =
            |document: Document| document.with("/spec/routes", "edit").with("/spec/podAffinity", "identity");
        let scene = Scene::set_up(lab, "edit-charts", with).await;
        let operator = Operator::new(lab, &scene.document);
        for owner in OWNERS {
            edited_then_upgraded(&scene, &operator, owner).await;
        }
    });
}

async fn edited_then_upgraded(scene: &Scene<'_>, operator: &Operator, owner: Owner) {
    let chart = Chart::new(scene.lab, &scene.stage.namespace);
    chart.comes(owner, &alone(&scene.stage, "5s")).await.unwrap();
    scene.answers(HOST).await;
    operator.is_told("apply", 2, &["cannot edit VirtualService edit-charts/shop: it belongs to"]).await;
    operator.is_told("apply --take-over --wait", 0, &["active in 1 proxies"]).await;
    operator.is_told("weight 20 --wait", 0, &["0% -> 20%"]).await;
    // Some rest, and some go on.
    let (mut resting, mut going) = (Sessions::default(), Sessions::default());
    let (_, faults) = resting.begin(scene.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "{owner:?}");
    let (on_canary, faults) = going.begin(scene.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "{owner:?}");
    let moving = going.set_out(SESSIONS);
    let upgraded = chart.comes(owner, &alone(&scene.stage, "7s")).await;
    if takes_routes_out(owner) {
        upgraded.unwrap();
        let lost = "VirtualService edit-charts/shop has lost routes of ours";
        operator.is_told("status", 0, &["problem: ", lost, "hint: ", "--take-over"]).await;
        operator.is_told("weight 30", 2, &["no-routes"]).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
    } else {
        let Err(LabError::Command { output, .. }) = upgraded else { panic!("{upgraded:?}") };
        assert!(output.contains("canary-ctl") && output.contains(".spec.http"), "{output}");
        operator.is_told("diff", 0, &[]).await;
    }
    judge(owner, on_canary, &going.settle(moving).await.expect("they come back"));
    if takes_routes_out(owner) {
        operator.is_told("apply", 2, &["it belongs to"]).await;
        operator.is_told("apply --take-over --wait", 0, &[]).await;
        operator.is_told("diff", 0, &[]).await;
    }
    assert_eq!(resting.come_back(false).await, Faults::default(), "{owner:?}: who had rested");
    operator.is_told("weight 0", 0, &[]).await;
    operator.is_told("uninstall --skip-check moves-users", 0, &[]).await;
    let timeout = if takes_routes_out(owner) { "7s" } else { "5s" };
    assert_eq!(chart.timeout().await, timeout, "{owner:?}: theirs is theirs");
    chart.goes(owner, &alone(&scene.stage, timeout)).await;
}

/// Nothing fails. Who strays lives on the canary and is on stable, and nobody does where our routes stay.
fn judge(owner: Owner, on_canary: u64, faults: &Faults) {
    assert_eq!((faults.failed.len(), faults.closed), (0, 0), "{owner:?}: {faults:?}");
    println!(
        "{owner:?}: {} answers to {on_canary} sessions of the canary from elsewhere",
        faults.strayed.len()
    );
    assert_eq!(takes_routes_out(owner), !faults.strayed.is_empty(), "{owner:?}: {faults:?}");
    for stray in &faults.strayed {
        let (home, answer) = stray.split_once(": Record").unwrap();
        assert!(home.contains("v2") && answer.contains("v1"), "{owner:?}: {stray}");
    }
}
