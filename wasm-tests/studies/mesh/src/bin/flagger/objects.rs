//! What Flagger is given: the Deployment of the shop, the query of its metric, its Canary.

use mesh_lab::{LabError, documents};
use programs::artifact;
use serde_json::{Value, json};
use wasm_tests::scenario::HOST;

use crate::settings::{INTERVAL, METRIC_INTERVAL, MIN_SUCCESS_RATE, PLAN, THRESHOLD};

/// The name of all of them.
pub(crate) const NAME: &str = "shop";
const METRIC: &str = "gateway-success-rate";
/// How long a pod serves on after its end was asked for: Flagger's guide to deployments without downtime.
const PRE_STOP_SECONDS: u32 = 10;

/// The formula of Flagger's `request-success-rate`, with what the gateway's Envoy counts of the canary's cluster in the place of
/// `istio_requests_total`.
pub(crate) fn success_rate() -> String {
    let count = |code: &str| {
        let cluster = "outbound[|]80[|][|]{{ target }}-canary[.]{{ namespace }}[.]svc.*";
        let labels = format!("cluster_name=~\"{cluster}\", response_code=~\"{code}\"");
        format!("sum(rate(envoy_cluster_upstream_rq{{{labels}}}[{{{{ interval }}}}]))")
    };
    format!("{} / {} * 100", count("[^5].*"), count(".+"))
}

/// The metric, asked of the Prometheus at this address.
pub(crate) fn metric_template(namespace: &str, prometheus: &str) -> Value {
    json!({
        "apiVersion": "flagger.app/v1beta1",
        "kind": "MetricTemplate",
        "metadata": {"name": METRIC, "namespace": namespace},
        "spec": {"provider": {"type": "prometheus", "address": prometheus}, "query": success_rate()},
    })
}

/// The Canary, behind the Gateway of this namespace.
pub(crate) fn canary(namespace: &str, ingress: &str, timeout: Option<&str>) -> Value {
    let mut service = json!({
        "port": 80,
        "targetPort": 8080,
        "gateways": [format!("{ingress}/shop")],
        "hosts": [HOST],
        "trafficPolicy": {"tls": {"mode": "DISABLE"}},
    });
    if let (Some(timeout), Some(service)) = (timeout, service.as_object_mut()) {
        service.insert("timeout".to_owned(), timeout.into());
    }
    json!({
        "apiVersion": "flagger.app/v1beta1",
        "kind": "Canary",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME},
            "progressDeadlineSeconds": 60,
            "service": service,
            "analysis": {
                "interval": INTERVAL,
                "threshold": THRESHOLD,
                "stepWeights": PLAN.weights,
                "sessionAffinity": {
                    "cookieName": "flagger-cookie",
                    "maxAge": 21_600,
                    "primaryCookieName": "primary-flagger-cookie",
                    "path": "/",
                },
                "metrics": [{
                    "name": METRIC,
                    "templateRef": {"name": METRIC},
                    "thresholdRange": {"min": MIN_SUCCESS_RATE},
                    "interval": METRIC_INTERVAL,
                }],
            },
        },
    })
}

/// The pods of a version, with these variables: those of the Deployments that `canary-ctl` is given, under one name.
pub(crate) fn template(version: &str, variables: &[&str]) -> Result<Value, LabError> {
    let path = artifact::root().join("wasm-tests/lab/manifests/shop.yaml");
    let name = format!("shop-{version}");
    let named = |object: &Value| object.pointer("/metadata/name") == Some(&Value::from(name.as_str()));
    let deployment =
        documents(&path)?.into_iter().filter(|object| object.pointer("/spec/template").is_some()).find(named);
    let mut template = deployment.and_then(|mut object| Some(object.pointer_mut("/spec/template")?.take()));
    let container =
        template.as_mut().and_then(|template| template.pointer_mut("/spec/containers/0")?.as_object_mut());
    if let Some(container) = container {
        let hook = json!({"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}});
        container.insert("lifecycle".to_owned(), hook);
        let pairs = variables.iter().filter_map(|variable| variable.split_once('='));
        let variables = pairs.map(|(name, value)| json!({"name": name, "value": value}));
        if let Some(list) = container.get_mut("env").and_then(Value::as_array_mut) {
            list.extend(variables);
        }
    }
    template.ok_or_else(|| LabError::Unexpected {
        what: "manifest of the shop",
        expected: "a Deployment of each version",
        found: format!("no {name} in {}", path.display()),
    })
}

/// The Deployment that Flagger is pointed at.
pub(crate) fn target(namespace: &str, template: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": NAME}}, "template": template},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_is_the_formula_of_flaggers_own_metric() {
        let of = |code: &str| {
            format!(
                "sum(rate(envoy_cluster_upstream_rq{{cluster_name=~\"outbound[|]80[|][|]{{{{ target }}}}-canary[.]\
                 {{{{ namespace }}}}[.]svc.*\", response_code=~\"{code}\"}}[{{{{ interval }}}}]))"
            )
        };
        assert_eq!(success_rate(), format!("{} / {} * 100", of("[^5].*"), of(".+")));
    }

    #[test]
    fn a_time_out_of_the_route_is_there_where_it_is_asked_for() {
        let timeout = |given| canary("a", "b", given)["spec"]["service"]["timeout"].clone();
        assert_eq!((timeout(None), timeout(Some("5s"))), (Value::Null, json!("5s")));
    }

    #[test]
    fn the_pods_are_those_of_the_lab_with_what_is_wrong_with_them() {
        let template = template("v2", &["SHOP_FAIL_PERCENT=5"]).unwrap();
        assert_eq!(template["metadata"]["labels"], json!({"app": "shop", "version": "v2"}));
        let container = &template["spec"]["containers"][0];
        assert!(container["args"].as_array().unwrap().contains(&json!("--version=v2")), "{container}");
        let variable = json!({"name": "SHOP_FAIL_PERCENT", "value": "5"});
        assert!(container["env"].as_array().unwrap().contains(&variable), "{container}");
    }
}
