//! A `VirtualService` of another owner with our routes in it, through a real gateway and under load.

use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::{refused, uninstall};
use browser::User;
use browser::load::LoadProfile;
use canary_release::plan::{ChangeReason, PlanNote};
use canary_release::preflight::PreflightCheck;
use serde_json::{Value, json};
use std::time::Duration;
use wasm_tests::mesh::ShopEnv;
use wasm_tests::scenario::{Crowd, Document, Faults, HOST, Sessions};

const USERS: usize = 60;

fn edit(release: Document) -> Document {
    release.with("/spec/sessionAffinity", "identity").with("/spec/routes", "inject")
}

impl LoadedFixture<'_> {
    /// The first `apply`: it takes users off the ready pods of the canary, which the owner's routes lead to.
    async fn take_over(&self) {
        let message = refused(PreflightCheck::MovesUsers, &self.apply_although(&[]).await);
        assert!(message.contains("version `v2` has 2 ready pods, and VirtualService"), "{message}");
        self.apply_although(&[PreflightCheck::MovesUsers]).await.unwrap();
    }

    async fn write(&self, name: &str, spec: &Value) {
        let metadata = json!({"name": name, "namespace": self.env.namespace});
        let object = json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": metadata, "spec": spec});
        self.lab.kubectl_as("admin", &["apply", "-f", "-"], &object.to_string()).await.unwrap();
    }

    async fn read(&self, name: &str) -> Value {
        let get =
            ["get", "virtualservice", name, "-n", &self.env.namespace, "-o", "json", "--show-managed-fields"];
        serde_json::from_str(&self.lab.kubectl(&get).await.unwrap()).unwrap()
    }

    /// A new session of this version.
    pub(super) async fn user_on(&self, version: &str) -> User {
        loop {
            let mut user = self.env.user();
            let response = user.navigate("/cart/add?item=tea").await.unwrap();
            if response.header("x-shop-version") == Some(version) {
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
                        let response = self.env.user().navigate(path).await.ok()?;
                        if response.header("x-shop-version") != Some(version) {
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
fn by_hand(env: &ShopEnv, timeout: &str) -> Value {
    let shop = json!([{"destination": {"host": "shop"}}]);
    json!({
        "hosts": [HOST],
        "gateways": [format!("{}/shop", env.ingress)],
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
fn injected_routes_keep_the_settings_of_the_owners_routes_and_no_request_fails_under_load() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "edited", edit).await;
        loaded.write("by-hand", &by_hand(&loaded.env, "0.3s")).await;
        let before = loaded.read("by-hand").await;
        loaded.answers(HOST).await;
        let load = LoadProfile { concurrency: 4, ..LoadProfile::navigate("/static/app.js", 5) };
        let crowd = Crowd::start(loaded.users(20), load);

        loaded.take_over().await;
        loaded.until_all_are_on("v1", &["/", "/cart"]).await;
        loaded.weigh("20").await;
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.open(loaded.users(USERS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..USERS as u64 / 2).contains(&on_canary), "{on_canary} of {USERS} at 20 %");
        let mut user = loaded.user_on("v2").await;
        for version in ["v1", "v2"] {
            let mut user = loaded.user_on(version).await;
            let basket = user.fetch("/basket").await.unwrap();
            assert_eq!(basket.header("x-shop-version"), Some(version));
            assert_eq!(basket.json()["cart"], json!(["tea"]), "rewritten to /cart");
            let slow = user.fetch("/slow?ms=2000").await.unwrap();
            assert_eq!(slow.status, 504, "{version} within 0.3 s");
        }

        loaded.write("by-hand", &by_hand(&loaded.env, "9s")).await;
        let record = loaded.cluster.get_record(&loaded.release.name).await.unwrap().record;
        let lost = loaded.cluster.unfinished(&loaded.release.name, &record).await.unwrap();
        let [change] = lost.changes.as_slice() else { panic!("{lost:?}") };
        assert_eq!(change.why, ChangeReason::Repair { by: vec!["kubectl-client-side-apply".to_owned()] });
        loaded.apply().await;
        loaded.until_served_by("v2", &mut user).await;
        assert_eq!(user.fetch("/slow?ms=2000").await.unwrap().status, 200, "as they have changed it");
        assert_eq!(sessions.verify_all(false).await, Faults::default());

        uninstall(&loaded.cluster, &loaded.release).await.unwrap();
        let (_, during) = crowd.stop().await.expect("they come back");
        println!("{} requests while it was edited and given back", during.records.len());
        assert!(during.failures().is_empty(), "{:?}", during.failures().first());
        let after = loaded.read("by-hand").await;
        assert_eq!(after["spec"], by_hand(&loaded.env, "9s"));
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
        let loaded = LoadedFixture::set_up(lab, "delegated", edit).await;
        let shop = json!([{"destination": {"host": "shop"}}]);
        let root = json!({
            "hosts": [HOST],
            "gateways": [format!("{}/shop", loaded.env.ingress)],
            "http": [{"match": [{"uri": {"prefix": "/"}}], "delegate": {"name": "shop-routes"}}],
        });
        loaded.write("root", &root).await;
        let delegate =
            json!({"http": [{"match": [{"uri": {"prefix": "/cart"}}], "route": shop}, {"route": shop}]});
        loaded.write("shop-routes", &delegate).await;
        let before = loaded.read("root").await;
        loaded.answers(HOST).await;
        loaded.take_over().await;
        loaded.until_all_are_on("v1", &["/", "/cart"]).await;
        loaded.weigh("100").await;
        loaded.until_all_are_on("v2", &["/", "/cart"]).await;
        assert_eq!(loaded.read("root").await, before, "left alone");
        uninstall(&loaded.cluster, &loaded.release).await.unwrap();
        assert_eq!(loaded.read("shop-routes").await["spec"], delegate);
    });
}

/// The gateway has the order of routes that `diff` prints.
#[test]
fn routes_of_older_virtual_services_match_before_ours_and_those_of_younger_ones_after() {
    in_the_mesh(async |lab| {
        let loaded =
            LoadedFixture::set_up(lab, "beside", |release| release.with("/spec/routes", "managed")).await;
        let theirs = |path: &str, status: u16| {
            json!({
                "hosts": [HOST],
                "gateways": [format!("{}/shop", loaded.env.ingress)],
                "http": [{"match": [{"uri": {"prefix": path}}], "directResponse": {"status": status}}],
            })
        };
        loaded.write("older", &theirs("/older", 418)).await;
        // `creationTimestamp` has a resolution of one second.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        loaded.apply().await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        loaded.write("a-younger", &theirs("/cart", 410)).await;
        let place = format!("{HOST} at {}/shop: routes of VirtualService", loaded.env.ingress);
        let order = ["older", "shop-canary", "a-younger"].map(|name| format!("beside/{name}"));
        let notes = loaded.cluster.plan(&loaded.release).await.unwrap().notes;
        let expected = format!("{place} {}", order.join(", then VirtualService "));
        assert_eq!(notes, [PlanNote::Routes(expected)]);

        loaded.answers(HOST).await;
        loaded.weigh("100").await;
        loaded.until_all_are_on("v2", &["/", "/cart"]).await;
        assert_eq!(loaded.env.user().navigate("/older").await.unwrap().status, 418);
    });
}
