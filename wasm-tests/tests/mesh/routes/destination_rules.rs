//! Rules of others, under load: what the host had it keeps, and where ours would not be seen nothing is written.

use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::other_owner::{LEADING, beside, to_shop};
use crate::support::release_fixture::ReleaseFixture;
use browser::load::{LoadProfile, Report};
use canary_ctl::hint::Hint as _;
use canary_operations::Error;
use canary_release::plan;
use serde_json::json;
use wasm_tests::scenario::{Crowd, HOST};

/// Where rules for the whole mesh are.
const ROOT: &str = "istio-system";

impl LoadedFixture<'_> {
    /// Applies the release and sends new users to the canary; returns a crowd that navigates meanwhile.
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
        Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/", 3) })
    }
}

/// No request has failed. The filter's installation closes connections, once, between two requests.
async fn unharmed(crowd: Crowd) -> Report {
    let (_, report) = crowd.stop().await.expect("the crowd comes back");
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    report
}

#[test]
fn a_rule_in_the_gateways_namespace_that_takes_the_place_of_ours_is_refused_and_nothing_is_written() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "rule-hidden", beside).await;
        loaded.routes("before.example.com", to_shop(None)).await;
        let outliers = json!({"trafficPolicy": {"outlierDetection": {"consecutive5xxErrors": 50}}});
        loaded.rule("rule-hidden-ingress", Some("*.local"), outliers).await;
        loaded.answers("before.example.com").await;
        let fixture = ReleaseFixture { api: lab, namespace: "rule-hidden".to_owned() };
        let before = fixture.versions().await;
        let crowd = loaded.crowd("before.example.com");
        let refused = loaded.apply_although(LEADING).await;
        let Err(error @ Error::Plan(plan::Error::Rules(_))) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.to_string(),
            "expected proxies in `rule-hidden-ingress` to go by DestinationRule rule-hidden/shop-canary, found \
             DestinationRule rule-hidden-ingress/theirs-rule-hidden before it: they would not know the subsets that \
             routes name"
        );
        let hint = error.hint().unwrap();
        assert!(
            hint.contains("move its settings to a rule for the host in namespace `rule-hidden`"),
            "{hint}"
        );
        let diff = loaded.cluster.plan(&loaded.release).await;
        assert!(matches!(diff, Err(Error::Plan(plan::Error::Rules(_)))), "{diff:?}");
        let report = unharmed(crowd).await;
        assert_eq!(report.closed(), 0);
        assert_eq!(fixture.versions().await, before);
    });
}

#[test]
fn the_settings_of_a_rule_for_the_whole_mesh_hold_in_our_subsets() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "rule-mesh", |release| {
            beside(release).with("/spec/sessionAffinity", "identity")
        })
        .await;
        // Pods that say that they speak mutual TLS, and do not: what the rule is for.
        let label =
            json!({"spec": {"template": {"metadata": {"labels": {"security.istio.io/tlsMode": "istio"}}}}});
        for version in ["v1", "v2"] {
            let deployment = format!("shop-{version}");
            lab.kubectl(&["patch", "deployment", &deployment, "-n", "rule-mesh", "-p", &label.to_string()])
                .await
                .unwrap();
            lab.rolled_out("rule-mesh", &deployment).await.unwrap();
        }
        let plain = json!({"trafficPolicy": {"tls": {"mode": "DISABLE"}}});
        loaded.rule(ROOT, Some("*.rule-mesh.svc.cluster.local"), plain).await;
        loaded.routes("before.example.com", to_shop(None)).await;
        loaded.answers("before.example.com").await;
        let before = loaded.crowd("before.example.com");
        let crowd = loaded.comes().await;
        unharmed(crowd).await;
        unharmed(before).await;
        lab.kubectl(&["delete", "destinationrule", "theirs-rule-mesh", "-n", ROOT]).await.unwrap();
    });
}

#[test]
fn an_older_rule_of_the_host_with_its_own_subsets_stays_in_force_beside_ours() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "rule-older", beside).await;
        let subsets = json!([
            {"name": "first", "labels": {"version": "v1"}},
            {"name": "v2", "labels": {"version": "v2"}},
        ]);
        loaded.rule("rule-older", None, json!({"subsets": subsets})).await;
        loaded.routes("before.example.com", to_shop(Some("first"))).await;
        loaded.answers("before.example.com").await;
        let before = loaded.crowd("before.example.com");
        let crowd = loaded.comes().await;
        loaded.weigh("0").await;
        unharmed(crowd).await;
        crate::support::release_fixture::uninstall(&loaded.cluster, &loaded.release).await.unwrap();
        loaded.answers("before.example.com").await;
        let report = unharmed(before).await;
        let versions = report.last_versions();
        assert!(versions.values().all(|version| version.as_deref() == Some("v1")), "{versions:?}");
    });
}
