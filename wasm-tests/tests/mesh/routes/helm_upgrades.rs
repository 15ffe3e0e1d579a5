//! A VirtualService of another owner, which is upgraded while the canary is at 20 %: users notice nothing, and `apply`
//! has nothing to repair.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::object_owner::{Chart, Owner, virtual_service};
use browser::User;
use mesh_lab::Helm;
use serde_json::{Value, json};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};

const SESSIONS: usize = 100;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_upgrade_of_a_chart_by_helm_3_moves_no_session() {
    upgraded("chart-helm3", Owner::Helm(Helm::Three));
}

#[test]
fn an_upgrade_of_a_chart_by_helm_4_moves_no_session() {
    upgraded("chart-helm4", Owner::Helm(Helm::Four));
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_upgrade_by_kubectl_moves_no_session() {
    upgraded("chart-kubectl", Owner::Kubectl);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_upgrade_by_argo_cd_moves_no_session() {
    upgraded("chart-argo", Owner::ArgoCdServerSide);
}

fn upgraded(name: &str, owner: Owner) {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway()).await.unwrap();
        let release = env
            .release()
            .unwrap()
            .with("/spec/routes", "external")
            .with("/spec/sessionAffinity", "identity")
            .with("/spec/weight", "0");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        cli.expect("weight 20", 2, &["no-routes"]).await;
        let chart = Chart::new(lab, &env.namespace);
        let routes = |timeout| [with_ours(&env, &release, timeout)];
        chart.comes(owner, &routes("5s")).await.unwrap();
        lab.until("the way to the shop", async || {
            env.user().navigate("/").await.is_ok_and(|response| response.status == 200).then_some(())
        })
        .await
        .unwrap();
        cli.expect("weight 20 --wait", 0, &["0% -> 20%"]).await;
        let mut sessions = Sessions::default();
        let people: Vec<User> = (0..SESSIONS).map(|_| env.user()).collect();
        let (on_canary, faults) = sessions.open(people).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.start_load(SESSIONS / 2);
        chart.comes(owner, &routes("7s")).await.unwrap();
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default(), "{owner:?}");
        assert_eq!(sessions.verify_all(true).await, Faults::default(), "{owner:?}");
        assert_eq!(chart.timeout().await, "7s", "theirs is theirs");
        cli.expect("diff", 0, &[]).await;
        cli.expect("weight 10 --wait", 0, &["20% -> 10%"]).await;
        assert_eq!(chart.timeout().await, "7s");
        let said = cli.expect("status", 0, &["weight 10%"]).await;
        assert!(!said.stdout.contains("problem:"), "{said:?}");
    });
}

/// The VirtualService of the shop, into which its owner has inserted our routes.
fn with_ours(env: &ShopEnv, release: &Document, timeout: &str) -> Value {
    let host = format!("shop.{}.svc.cluster.local", env.namespace);
    let to =
        |version: &str| json!([{"destination": {"host": host, "subset": version, "port": {"number": 80}}}]);
    let by_header = |version: &str| {
        let header = json!({"x-canary-version": {"exact": format!("{}/{version}", release.name())}});
        json!({"match": [{"headers": header}], "route": to(version), "timeout": timeout})
    };
    let default = json!({"route": to("v1"), "timeout": timeout});
    virtual_service(env, "shop", &json!([by_header("v1"), by_header("v2"), default]))
}
