//! Rules of others, under load: what the host had it keeps, and where ours would not be seen nothing is written.

use super::desk::Desk;
use super::scene::Scene;
use crate::support::in_the_mesh;
use canary_ctl::cluster::Error;
use canary_ctl::plan::{self, PreflightCheck};
use serde_json::{Value, json};
use wasm_tests::client::load::{Plan, Report};
use wasm_tests::scenario::{Crowd, Document, HOST};

/// Where rules for the whole mesh are.
const ROOT: &str = "istio-system";

/// Routes of others are there, for other hosts; those lead to the canary too.
pub(super) fn beside(release: Document) -> Document {
    release.with("/spec/routes", "own")
}

pub(super) const LEADING: &[PreflightCheck] = &[PreflightCheck::Uncovered];

impl Scene<'_> {
    /// A rule of theirs for the shop, or for this host.
    pub(super) async fn rule(&self, namespace: &str, host: Option<&str>, spec: Value) {
        let shop = format!("shop.{}.svc.cluster.local", self.stage.namespace);
        let mut spec = spec;
        spec["host"] = json!(host.unwrap_or(&shop));
        self.theirs("DestinationRule", namespace, spec).await;
    }

    /// Routes of theirs, for a host at the gateway.
    pub(super) async fn routes(&self, host: &str, http: Value) {
        let gateways = [format!("{}/shop", self.stage.ingress)];
        let spec = json!({"hosts": [host], "gateways": gateways, "http": http});
        self.theirs("VirtualService", &self.stage.namespace, spec).await;
    }

    /// An object of theirs, named after the place where it matters.
    async fn theirs(&self, kind: &str, namespace: &str, spec: Value) {
        let metadata = json!({"name": format!("theirs-{}", self.stage.namespace), "namespace": namespace});
        let object =
            json!({"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec});
        self.lab.apply(&object.to_string()).await.unwrap();
    }

    /// The release comes, and everybody new goes to the canary; those who navigate all the while are returned.
    async fn comes(&self) -> Crowd {
        self.apply_although(LEADING).await.unwrap();
        self.answers(HOST).await;
        let crowd = self.crowd(HOST);
        self.weigh("100").await;
        let fresh = self.user_at(HOST).navigate("/").await.unwrap();
        assert_eq!((fresh.status, fresh.header("x-shop-version")), (200, Some("v2")));
        crowd
    }

    /// Users who navigate all the time.
    fn crowd(&self, host: &str) -> Crowd {
        let users = (0..20).map(|_| self.user_at(host)).collect();
        Crowd::start(users, Plan { concurrency: 4, ..Plan::navigate("/", 3) })
    }
}

/// A destination of theirs.
pub(super) fn to_shop(subset: Option<&str>) -> Value {
    let mut destination = json!({"host": "shop"});
    if let Some(subset) = subset {
        destination["subset"] = json!(subset);
    }
    json!([{"route": [{"destination": destination}]}])
}

/// Nobody was refused. The filter's arrival ends connections, once, between two requests.
async fn unharmed(crowd: Crowd) -> Report {
    let (_, report) = crowd.stop().await.expect("the crowd comes back");
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    report
}

#[test]
fn a_rule_in_the_gateways_namespace_that_takes_the_place_of_ours_is_refused_and_nothing_is_written() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "rule-hidden", beside).await;
        scene.routes("before.example.com", to_shop(None)).await;
        let outliers = json!({"trafficPolicy": {"outlierDetection": {"consecutive5xxErrors": 50}}});
        scene.rule("rule-hidden-ingress", Some("*.local"), outliers).await;
        scene.answers("before.example.com").await;
        let desk = Desk { lab, namespace: "rule-hidden".to_owned() };
        let before = desk.versions().await;
        let crowd = scene.crowd("before.example.com");
        let refused = scene.apply_although(LEADING).await;
        let Err(error @ Error::Plan(plan::Error::Rules(_))) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.to_string(),
            "expected proxies in `rule-hidden-ingress` to go by DestinationRule rule-hidden/shop-canary, found \
             DestinationRule rule-hidden-ingress/theirs-rule-hidden before it: they would not know the subsets that \
             routes name"
        );
        assert!(
            error
                .hint()
                .unwrap()
                .contains("move its settings to a rule for the host in namespace `rule-hidden`")
        );
        let diff = scene.cluster.plan(&scene.release).await;
        assert!(matches!(diff, Err(Error::Plan(plan::Error::Rules(_)))), "{diff:?}");
        let report = unharmed(crowd).await;
        assert_eq!(report.closed(), 0);
        assert_eq!(desk.versions().await, before);
    });
}

#[test]
fn the_settings_of_a_rule_for_the_whole_mesh_hold_in_our_subsets() {
    in_the_mesh(async |lab| {
        let scene =
            Scene::set_up(lab, "rule-mesh", |release| beside(release).with("/spec/podAffinity", "identity"))
                .await;
        // Pods that say that they speak mutual TLS, and do not: what the rule is for.
        let label =
            json!({"spec": {"template": {"metadata": {"labels": {"security.istio.io/tlsMode": "istio"}}}}});
        for version in ["v1", "v2"] {
            let deployment = format!("deployment/shop-{version}");
            lab.kubectl(&["patch", &deployment, "-n", "rule-mesh", "-p", &label.to_string()]).await.unwrap();
            lab.rolled_out("rule-mesh", &deployment).await.unwrap();
        }
        let plain = json!({"trafficPolicy": {"tls": {"mode": "DISABLE"}}});
        scene.rule(ROOT, Some("*.rule-mesh.svc.cluster.local"), plain).await;
        scene.routes("before.example.com", to_shop(None)).await;
        scene.answers("before.example.com").await;
        let before = scene.crowd("before.example.com");
        let crowd = scene.comes().await;
        unharmed(crowd).await;
        unharmed(before).await;
        lab.kubectl(&["delete", "destinationrule", "theirs-rule-mesh", "-n", ROOT]).await.unwrap();
    });
}

#[test]
fn an_older_rule_of_the_host_with_subsets_of_its_own_goes_on_beside_ours() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "rule-older", beside).await;
        let subsets = json!([
            {"name": "first", "labels": {"version": "v1"}},
            {"name": "v2", "labels": {"version": "v2"}},
        ]);
        scene.rule("rule-older", None, json!({"subsets": subsets})).await;
        scene.routes("before.example.com", to_shop(Some("first"))).await;
        scene.answers("before.example.com").await;
        let before = scene.crowd("before.example.com");
        let crowd = scene.comes().await;
        scene.weigh("0").await;
        unharmed(crowd).await;
        super::desk::uninstall(&scene.cluster, &scene.release).await.unwrap();
        scene.answers("before.example.com").await;
        let report = unharmed(before).await;
        assert!(report.last_versions().values().all(|version| version.as_deref() == Some("v1")));
    });
}
