//! A cause that one verb names all verbs name: `doctor`, `apply`, `status`, a weight and a promotion.

use canary_operations::Error;
use canary_release::doctor::findings;
use canary_release::status::{NextStep, problems};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, SHOP, apply, promote, release, run, set_weight, shop};
use serde_json::{Value, json};

/// What each verb says: its findings, messages, refusal.
struct Said {
    doctor: String,
    apply: String,
    status: String,
    weight: String,
    promote: String,
}

fn refusal<T>(result: Result<T, Error>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

/// The verbs on a release that is there, after something has happened to its cluster.
async fn said(happens: impl Fn(&FakeApi), change: &Value) -> Said {
    let api = shop();
    let cluster = api.cluster().await;
    apply(&cluster, &release(&Value::Null)).await.unwrap();
    happens(&api);
    let release = release(change);
    let diagnosis = cluster.diagnose(&release).await;
    let found = findings(&release, &diagnosis.examination);
    let doctor = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let applied = match apply(&cluster, &release).await {
        Ok(applied) => {
            let calls = applied.unrouted.iter().map(ToString::to_string);
            let gaps = applied.coverage.gaps.iter().map(ToString::to_string);
            let texts = calls.chain(gaps).chain(applied.unreached.iter().map(ToString::to_string));
            texts.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error.to_string(),
    };
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observed = cluster.observe_status(&release.name, &stored).await.unwrap();
    let now = observed.record.state.generation;
    let next = NextStep::of(&observed, now).map(|next| format!("{next:?}"));
    let problems = problems(&observed, None, 0).iter().map(ToString::to_string).collect::<Vec<_>>();
    let status = problems.join("\n") + &next.unwrap_or_default();
    let weight = refusal(set_weight(&cluster, &release, "10").await);
    let promote = refusal(promote(&cluster, &release).await);
    Said { doctor, apply: applied, status, weight, promote }
}

fn narrow(api: &FakeApi) {
    let selector = json!({"app": "shop", "version": "v1"});
    api.state().store.edit("Service", "shop", |service| service["spec"]["selector"] = selector);
}

fn unlabelled(api: &FakeApi) {
    api.state().store.edit("Pod", "shop-v2", |pod| pod["metadata"]["labels"] = json!({"app": "shop"}));
}

fn bypass(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"namespace": SHOP, "name": "site"},
        "spec": {"defaultBackend": {"service": {"name": "shop", "port": {"number": 80}}}}}));
}

fn without_pods(api: &FakeApi) {
    api.state().store.remove("Pod", "shop-v2");
}

/// Kubernetes puts no pod of v2 behind a port whose name its containers do not have.
fn other_port_name(api: &FakeApi) {
    let mut state = api.state();
    state.store.edit("Service", "shop", |service| {
        service["spec"]["ports"] = json!([{"name": "http", "port": 80, "targetPort": "web"}]);
    });
    for (pod, name) in [("shop-v1", "web"), ("shop-v2", "http")] {
        state.store.edit("Pod", pod, |pod| {
            pod["spec"]["containers"] =
                json!([{"name": "shop", "ports": [{"name": name, "containerPort": 8080}]}]);
        });
    }
}

/// The gateway's pods search their own namespace first.
fn hiding_rule(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": {"namespace": INGRESS, "name": "tls"}, "spec": {"host": "shop.shop.svc.cluster.local"}}));
}

fn other_port(api: &FakeApi) {
    api.state().store.edit("Service", "shop", |service| {
        service["spec"]["ports"] = json!([{"name": "http", "port": 8081}]);
    });
}

/// A cause, what does it, and the words in which each verb names it.
#[test]
fn a_cause_is_named_by_each_verb_that_it_concerns() {
    run(async {
        let change = json!({"maxStep": 90});
        let selector = "Service `shop` selects `version: v1` alone";
        let label = "expected label `version` at all pods behind Service `shop`, found 1 pod without it";
        let no_pod = "version `v2` has no pod behind Service `shop`";
        let mut wrong = Vec::new();
        let unnamed = "expected a container of version `v2` with the port that Service `shop` names (`web`)";
        let hides = "DestinationRule ingress/tls";
        let port = "expected port 80 of Service `shop`, found 8081";
        let routed = "expected port 8081 of Service `shop` in the routes of VirtualService";
        let rows: [(&str, Said, [&str; 5]); 7] = [
            (
                "a port that the canary does not name",
                Box::pin(said(other_port_name, &change)).await,
                ["version `v2` has no ready pod yet", "", "DeployCanary", unnamed, unnamed],
            ),
            (
                "a rule that hides the subsets",
                Box::pin(said(hiding_rule, &change)).await,
                [hides, hides, hides, hides, hides],
            ),
            (
                "another port of the Service",
                Box::pin(said(other_port, &change)).await,
                [port, port, routed, routed, routed],
            ),
            (
                "narrow selector",
                Box::pin(said(narrow, &change)).await,
                [selector, selector, "WidenSelector", selector, selector],
            ),
            (
                "pods without the label",
                Box::pin(said(unlabelled, &change)).await,
                [label, label, "DeployCanary", no_pod, no_pod],
            ),
            (
                "no pods",
                Box::pin(said(without_pods, &change)).await,
                ["version `v2` has no ready pod yet", "", "DeployCanary", no_pod, no_pod],
            ),
            (
                "a bypass",
                Box::pin(said(bypass, &change)).await,
                ["Ingress shop/site", "Ingress shop/site", "Ingress shop/site", "", ""],
            ),
        ];
        for (cause, said, expected) in &rows {
            let verbs = [
                ("doctor", &said.doctor),
                ("apply", &said.apply),
                ("status", &said.status),
                ("weight", &said.weight),
                ("promote", &said.promote),
            ];
            for ((verb, found), expected) in verbs.into_iter().zip(expected) {
                if !found.contains(expected) || (expected.is_empty() && !found.is_empty()) {
                    wrong.push(format!("{cause}, {verb}: expected `{expected}`, found `{found}`"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
