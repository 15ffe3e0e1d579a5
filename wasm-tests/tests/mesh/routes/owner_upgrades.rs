//! Upgrades of charts by their owners while the canary is at 20 % under load, with our routes beside theirs or injected
//! into them. (`helm_upgrades.rs` has charts into which their owners have inserted our routes.)

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::object_owner::{Chart, Owner, virtual_service};
use mesh_lab::{Helm, LabError};
use serde_json::{Value, json};
use std::time::Duration;
use wasm_tests::mesh::ShopEnv;
use wasm_tests::scenario::{Document, Faults, HOST, Sessions};

const SESSIONS: usize = 60;
const OWNERS: [Owner; 4] =
    [Owner::Helm(Helm::Three), Owner::Helm(Helm::Four), Owner::ArgoCd, Owner::ArgoCdServerSide];

/// What a chart has beside the release: a response of its own for a path.
fn help(env: &ShopEnv, number: usize, status: u16) -> Value {
    let path = json!([{"uri": {"prefix": format!("/help-{number}")}}]);
    let http = json!([{"match": path, "directResponse": {"status": status}}]);
    virtual_service(env, &format!("shop-help-{number}"), &http)
}

/// The `trafficPolicy` that the owner sets for the shop.
fn policy(env: &ShopEnv, timeout: &str) -> Value {
    rule(env, &json!({"trafficPolicy": {"connectionPool": {"tcp": {"connectTimeout": timeout}}}}))
}

fn rule(env: &ShopEnv, with: &Value) -> Value {
    let mut rule = json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": {"name": "shop", "namespace": env.namespace},
        "spec": with,
    });
    rule["spec"]["host"] = json!(format!("shop.{}.svc.cluster.local", env.namespace));
    rule
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn beside_routes_and_a_rule_of_another_owner_no_upgrade_moves_a_session_and_diff_shows_it() {
    in_the_mesh(async |lab| {
        let with = |document: Document| {
            document.with("/spec/routes", "managed").with("/spec/sessionAffinity", "identity")
        };
        let loaded = LoadedFixture::set_up(lab, "own-charts", with).await;
        let env = &loaded.env;
        let cli = Cli::new(lab, &loaded.document);
        let mut charts = Vec::new();
        for (number, owner) in OWNERS.into_iter().enumerate() {
            let chart = Chart::called(lab, &format!("shop-{number}"), &env.namespace);
            chart.comes(owner, &[help(env, number, 418)]).await.unwrap();
            charts.push((number, owner, chart));
        }
        // `creationTimestamp` has a resolution of one second.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        loaded.answers(HOST).await;
        cli.expect("weight 20 --wait", 0, &["0% -> 20%"]).await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.open(loaded.users(SESSIONS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.start_load(SESSIONS / 2);
        for (number, owner, chart) in &charts {
            for (timeout, status) in [("5s", 419), ("7s", 410)] {
                let objects = [help(env, *number, status), policy(env, timeout)];
                chart.comes(*owner, &objects).await.unwrap();
                lab.until("their response", async || {
                    let response = loaded.user_at(HOST).navigate(&format!("/help-{number}")).await.ok()?;
                    (response.status == status).then_some(())
                })
                .await
                .unwrap();
                cli.expect("diff", 1, &["spec.trafficPolicy", &format!("\"{timeout}\"")]).await;
                cli.expect("apply --wait", 0, &["1 object written"]).await;
                cli.expect("diff", 0, &[]).await;
            }
            chart.leaves_out(*owner, &[help(env, *number, 410)], &[policy(env, "7s")]).await;
            cli.expect("apply", 0, &["1 object written"]).await;
            assert_eq!(sessions.verify_all(false).await, Faults::default(), "{owner:?}");
        }
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let said = cli.expect("status", 0, &["weight 20%"]).await;
        assert!(!said.stdout.contains("problem:"), "{said:?}");
    });
}

/// A chart that has the shop's routes to itself.
fn alone(env: &ShopEnv, timeout: &str) -> Vec<Value> {
    let shop = format!("shop.{}.svc.cluster.local", env.namespace);
    let to_stable = json!([{"destination": {"host": shop, "subset": "v1"}}]);
    let routes = virtual_service(env, "shop", &json!([{"route": to_stable, "timeout": timeout}]));
    vec![routes, rule(env, &json!({"subsets": [{"name": "v1", "labels": {"version": "v1"}}]}))]
}

/// A server-side apply by another manager without force is refused; one with force, or a client-side apply, removes our
/// routes.
fn takes_routes_out(owner: Owner) -> bool {
    owner != Owner::Helm(Helm::Four)
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_upgrade_of_an_injected_object_is_refused_or_reported_and_routes_to_stable_meanwhile() {
    in_the_mesh(async |lab| {
        let with = |document: Document| {
            document.with("/spec/routes", "inject").with("/spec/sessionAffinity", "identity")
        };
        let loaded = LoadedFixture::set_up(lab, "edit-charts", with).await;
        let cli = Cli::new(lab, &loaded.document);
        for owner in OWNERS {
            edited_then_upgraded(&loaded, &cli, owner).await;
        }
    });
}

async fn edited_then_upgraded(loaded: &LoadedFixture<'_>, cli: &Cli, owner: Owner) {
    let chart = Chart::new(loaded.lab, &loaded.env.namespace);
    chart.comes(owner, &alone(&loaded.env, "5s")).await.unwrap();
    loaded.answers(HOST).await;
    cli.expect("apply", 2, &["cannot edit VirtualService edit-charts/shop: it belongs to"]).await;
    cli.expect("apply --take-ownership --wait", 0, &["active in 1 proxy"]).await;
    cli.expect("weight 20 --wait", 0, &["0% -> 20%"]).await;
    // Some rest, and some go on.
    let (mut resting, mut going) = (Sessions::default(), Sessions::default());
    let (_, faults) = resting.open(loaded.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "{owner:?}");
    let (on_canary, faults) = going.open(loaded.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "{owner:?}");
    let mut on_v2 = loaded.user_on("v2").await;
    let moving = going.start_load(SESSIONS);
    let upgraded = chart.comes(owner, &alone(&loaded.env, "7s")).await;
    if takes_routes_out(owner) {
        upgraded.unwrap();
        let lost = "VirtualService edit-charts/shop has lost routes of ours";
        cli.expect("status", 0, &["problem: ", lost, "hint: ", "--take-ownership"]).await;
        cli.expect("weight 30", 2, &["no-routes"]).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
    } else {
        let Err(LabError::Command { output, .. }) = upgraded else { panic!("{upgraded:?}") };
        assert!(output.contains("canary-ctl") && output.contains(".spec.http"), "{output}");
        cli.expect("diff", 0, &[]).await;
    }
    judge(owner, on_canary, &going.stop_load(moving).await.expect("they come back"));
    if takes_routes_out(owner) {
        cli.expect("apply", 2, &["it belongs to"]).await;
        cli.expect("apply --take-ownership --wait", 0, &[]).await;
        cli.expect("diff", 0, &[]).await;
        loaded.until_served_by("v2", &mut on_v2).await;
    }
    assert_eq!(resting.verify_all(false).await, Faults::default(), "{owner:?}: who had rested");
    cli.expect("weight 0", 0, &[]).await;
    cli.expect("uninstall --skip-check moves-users", 0, &[]).await;
    let timeout = if takes_routes_out(owner) { "7s" } else { "5s" };
    assert_eq!(chart.timeout().await, timeout, "{owner:?}: theirs is theirs");
    chart.goes(owner, &alone(&loaded.env, timeout)).await;
}

/// No request fails. Stray responses come from stable to canary sessions, and only with owners that remove our routes.
fn judge(owner: Owner, on_canary: u64, faults: &Faults) {
    assert_eq!((faults.failed.len(), faults.closed), (0, 0), "{owner:?}: {faults:?}");
    println!(
        "{owner:?}: {} answers to {on_canary} sessions of the canary from elsewhere",
        faults.moved.len()
    );
    assert_eq!(takes_routes_out(owner), !faults.moved.is_empty(), "{owner:?}: {faults:?}");
    for stray in &faults.moved {
        let (home, response) = stray.split_once(": Record").unwrap();
        assert!(home.contains("v2") && response.contains("v1"), "{owner:?}: {stray}");
    }
}
