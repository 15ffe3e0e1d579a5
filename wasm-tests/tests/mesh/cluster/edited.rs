//! A `VirtualService` of somebody else with our routes in it, through a real gateway and under load.

use super::desk::uninstall;
use super::scene::Scene;
use crate::support::in_the_mesh;
use canary_ctl::plan::Why;
use serde_json::{Value, json};
use std::time::Duration;
use wasm_tests::client::User;
use wasm_tests::client::load::Plan;
use wasm_tests::lab::Stage;
use wasm_tests::scenario::{Crowd, Document, Faults, HOST, Sessions};

const USERS: usize = 60;

fn edit(release: Document) -> Document {
    release.with("/spec/podAffinity", "identity").with("/spec/routes", "edit")
}

impl Scene<'_> {
    async fn write(&self, name: &str, spec: &Value) {
        let metadata = json!({"name": name, "namespace": self.stage.namespace});
        let object = json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": metadata, "spec": spec});
        self.lab.kubectl_as("admin", &["apply", "-f", "-"], &object.to_string()).await.unwrap();
    }

    async fn read(&self, name: &str) -> Value {
        let get = [
            "get",
            "virtualservice",
            name,
            "-n",
            &self.stage.namespace,
            "-o",
            "json",
            "--show-managed-fields",
        ];
        serde_json::from_str(&self.lab.kubectl(&get).await.unwrap()).unwrap()
    }

    /// A new session of this version.
    async fn user_on(&self, version: &str) -> User {
        loop {
            let mut user = self.stage.user();
            let answer = user.navigate("/cart/add?item=tea").await.unwrap();
            if answer.header("x-shop-version") == Some(version) {
                return user;
            }
        }
    }

    /// Each of these paths leads all new users to one version.
    async fn until_all_are_on(&self, version: &str, paths: &[&str]) {
        self.lab
            .until(&format!("everybody on {version}"), async || {
                for path in paths {
                    for _ in 0..8 {
                        let answer = self.stage.user().navigate(path).await.ok()?;
                        if answer.header("x-shop-version") != Some(version) {
                            return None;
                        }
                    }
                }
                Some(())
            })
            .await
            .unwrap();
    }
}

/// A time-out, a rewrite, two alternatives, and a route without anything.
fn by_hand(stage: &Stage, timeout: &str) -> Value {
    let shop = json!([{"destination": {"host": "shop"}}]);
    json!({
        "hosts": [HOST],
        "gateways": [format!("{}/shop", stage.ingress)],
        "http": [
            {
                "name": "cart",
                "match": [{"uri": {"prefix": "/cart"}}, {"uri": {"prefix": "/basket"}}],
                "rewrite": {"uri": "/cart"},
                "route": shop,
            },
            {"match": [{"uri": {"prefix": "/slow"}}], "timeout": timeout, "route": shop},
            {"route": shop},
        ],
    })
}

#[test]
fn a_route_of_theirs_keeps_what_it_asks_for_at_every_version_and_nothing_fails_under_load() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "edited", edit).await;
        scene.write("by-hand", &by_hand(&scene.stage, "0.3s")).await;
        let before = scene.read("by-hand").await;
        scene.answers(HOST).await;
        let crowd =
            Crowd::start(scene.users(20), Plan { concurrency: 4, ..Plan::navigate("/static/app.js", 5) });

        scene.apply().await;
        scene.until_all_are_on("v1", &["/", "/cart"]).await;
        scene.weigh("20").await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.begin(scene.users(USERS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..USERS as u64 / 2).contains(&on_canary), "{on_canary} of {USERS} at 20 %");
        let mut user = scene.user_on("v2").await;
        for version in ["v1", "v2"] {
            let mut user = scene.user_on(version).await;
            let basket = user.fetch("/basket").await.unwrap();
            assert_eq!(basket.header("x-shop-version"), Some(version));
            assert_eq!(basket.json()["cart"], json!(["tea"]), "rewritten to /cart");
            let slow = user.fetch("/slow?ms=2000").await.unwrap();
            assert_eq!(slow.status, 504, "{version} within 0.3 s");
        }

        scene.write("by-hand", &by_hand(&scene.stage, "9s")).await;
        let record = scene.cluster.get_record(&scene.release.name).await.unwrap().record;
        let lost = scene.cluster.unfinished(&scene.release.name, &record).await.unwrap();
        let [change] = lost.changes.as_slice() else { panic!("{lost:?}") };
        assert_eq!(change.why, Why::Repair { by: vec!["kubectl-client-side-apply".to_owned()] });
        scene.apply().await;
        lab.until("the way back to v2", async || {
            let answer = user.fetch("/slow?ms=1").await.unwrap();
            (answer.header("x-shop-version") == Some("v2")).then_some(())
        })
        .await
        .unwrap();
        assert_eq!(user.fetch("/slow?ms=2000").await.unwrap().status, 200, "as they have changed it");
        assert_eq!(sessions.come_back(false).await, Faults::default());

        uninstall(&scene.cluster, &scene.release).await.unwrap();
        let (_, during) = crowd.stop().await.expect("they come back");
        println!("{} requests while it was edited and given back", during.records.len());
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let after = scene.read("by-hand").await;
        assert_eq!(after["spec"], by_hand(&scene.stage, "9s"));
        let managers = |object: &Value| {
            let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
            entries.map(|entry| (entry["manager"].clone(), entry["fieldsV1"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(managers(&after), managers(&before));
    });
}

#[test]
fn where_the_root_delegates_the_delegate_is_edited() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "delegated", edit).await;
        let shop = json!([{"destination": {"host": "shop"}}]);
        let root = json!({
            "hosts": [HOST],
            "gateways": [format!("{}/shop", scene.stage.ingress)],
            "http": [{"match": [{"uri": {"prefix": "/"}}], "delegate": {"name": "shop-routes"}}],
        });
        scene.write("root", &root).await;
        let delegate =
            json!({"http": [{"match": [{"uri": {"prefix": "/cart"}}], "route": shop}, {"route": shop}]});
        scene.write("shop-routes", &delegate).await;
        let before = scene.read("root").await;
        scene.answers(HOST).await;
        scene.apply().await;
        scene.until_all_are_on("v1", &["/", "/cart"]).await;
        scene.weigh("100").await;
        scene.until_all_are_on("v2", &["/", "/cart"]).await;
        assert_eq!(scene.read("root").await, before, "left alone");
        uninstall(&scene.cluster, &scene.release).await.unwrap();
        assert_eq!(scene.read("shop-routes").await["spec"], delegate);
    });
}

/// What `diff` says of the order is what the gateway does.
#[test]
fn beside_one_of_ours_older_routes_come_first_and_younger_ones_last() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "beside", |release| release.with("/spec/routes", "own")).await;
        let theirs = |path: &str, status: u16| {
            json!({
                "hosts": [HOST],
                "gateways": [format!("{}/shop", scene.stage.ingress)],
                "http": [{"match": [{"uri": {"prefix": path}}], "directResponse": {"status": status}}],
            })
        };
        scene.write("older", &theirs("/older", 418)).await;
        // Objects are as old as seconds can tell.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        scene.apply().await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        scene.write("a-younger", &theirs("/cart", 410)).await;
        let place = format!("{HOST} at {}/shop: routes of VirtualService", scene.stage.ingress);
        let order = ["older", "shop-canary", "a-younger"].map(|name| format!("beside/{name}"));
        let notes = scene.cluster.plan(&scene.release).await.unwrap().notes;
        assert_eq!(notes, [format!("{place} {}", order.join(", then VirtualService "))]);

        scene.answers(HOST).await;
        scene.weigh("100").await;
        scene.until_all_are_on("v2", &["/", "/cart"]).await;
        assert_eq!(scene.stage.user().navigate("/older").await.unwrap().status, 418);
    });
}
