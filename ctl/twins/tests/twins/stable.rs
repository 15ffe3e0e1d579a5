//! Stable's pods stay as they are deployed, and what cannot change is refused before anything is written.

use crate::chart::{alone, beside, chart, names, object, objects};
use helm_twins::{Check, Object, plan};
use serde_json::{Value, json};

/// Terms of affinity and spreading, and whether the twin's are narrowed to its version.
const TERMS: [(&str, bool); 9] = [
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, labelSelector: {matchLabels: {app: shop}}}]",
        true,
    ),
    (
        "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: h, labelSelector: {matchLabels: {app: shop}}}}]}}",
        true,
    ),
    (
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {matchLabels: {app: shop}}}]}}",
        true,
    ),
    (
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {matchExpressions: [{key: app, operator: In, values: [shop]}]}}]}}",
        true,
    ),
    (
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, namespaces: [shop], labelSelector: {matchLabels: {app: shop}}}]}}",
        true,
    ),
    (
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, namespaces: [other], labelSelector: {matchLabels: {app: shop}}}]}}",
        false,
    ),
    (
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {matchLabels: {app: database}}}]}}",
        false,
    ),
    (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: app, operator: Exists}]}]}}}",
        false,
    ),
    ("nodeSelector: {app: shop}", false),
];

fn template(objects: &[Object], name: &str) -> Value {
    object(objects, name)["spec"]["template"].clone()
}

#[test]
fn terms_of_the_twin_alone_are_narrowed_and_stables_pods_stay() {
    for (term, is_narrowed) in TERMS {
        let spec = format!("      {term}");
        let (old, new) = (chart("1", &spec, ""), chart("2", &spec, ""));
        let both = objects(plan(&old, &new, &beside("v1", "v2")));
        let mut stable = template(&both, "Deployment shop");
        stable["metadata"]["labels"].as_object_mut().unwrap().remove("version");
        assert_eq!(stable, template(&old, "Deployment shop"), "{term}: stable's");
        let twin = template(&both, "Deployment shop-v2")["spec"].to_string();
        assert_eq!(twin.contains(r#""version":"v2""#), is_narrowed, "{term}: {twin}");
        let back = objects(plan(&both, &old, &alone("v1")));
        assert_eq!(
            template(&back, "Deployment shop"),
            template(&both, "Deployment shop"),
            "{term}: the way back"
        );
        let finished = objects(plan(&both, &new, &alone("v2")));
        assert_eq!(
            template(&finished, "Deployment shop-v2"),
            template(&both, "Deployment shop-v2"),
            "{term}: the end"
        );
    }
}

#[test]
fn terms_of_a_new_installation_are_narrowed_and_stay_so() {
    let spec = format!("      {}", TERMS[2].0);
    let deployed = objects(plan(&[], &chart("1", &spec, ""), &alone("v1")));
    let stable = template(&deployed, "Deployment shop");
    assert!(stable["spec"].to_string().contains(r#""version":"v1""#), "{stable}");
    let both = objects(plan(&deployed, &chart("2", &spec, ""), &beside("v1", "v2")));
    assert_eq!(template(&both, "Deployment shop"), stable);
    let back = objects(plan(&both, &chart("1", &spec, ""), &alone("v1")));
    assert_eq!(template(&back, "Deployment shop"), stable);
}

/// Kubernetes holds a required anti-affinity of pods that run against those that come.
#[test]
fn a_required_anti_affinity_of_stable_is_warned_of() {
    for (index, (term, _)) in TERMS.iter().enumerate() {
        let spec = format!("      {term}");
        let planned = plan(&chart("1", &spec, ""), &chart("2", &spec, ""), &beside("v1", "v2"));
        let is_warned =
            planned.warnings.iter().any(|one| one.contains("the required anti-affinity of Deployment shop"));
        assert_eq!(is_warned, index == 2, "{term}: {:?}", planned.warnings);
    }
}

/// The version label may be one that the chart writes, too.
#[test]
fn another_value_of_the_version_label_would_replace_stables_pods() {
    for (stable, is_refused) in [("1", false), ("v1", true)] {
        let mut rules = beside(stable, "2");
        rules.version_label = "app.kubernetes.io/version".to_owned();
        let planned = plan(&chart("1", "", ""), &chart("2", "", ""), &rules);
        let expected: &[Check] = if is_refused { &[Check::StablePodsKept] } else { &[] };
        assert_eq!(planned.failed_checks(), expected, "{stable}: {:?}", planned.refusals);
    }
}

#[test]
fn an_upgrade_of_stable_names_what_replaces_its_pods() {
    let deployed = objects(plan(&[], &chart("1", "", ""), &alone("v1")));
    assert_eq!(plan(&deployed, &chart("1", "", ""), &alone("v1")).warnings, [""; 0]);
    assert_eq!(
        plan(&deployed, &chart("2", "", ""), &alone("v1")).warnings,
        ["Deployment shop gets other pods, which end the sessions of those before: \
          `spec.template.metadata.labels.app.kubernetes.io/version` changes"]
    );
}

/// A checksum of a random Secret differs in each render.
#[test]
fn metadata_of_the_chart_restarts_no_pod_at_the_end_of_a_promotion() {
    let annotated = |image: &str, sum: &str| {
        let mut objects = chart(image, "", "");
        let mut value = objects[1].value().clone();
        value["spec"]["template"]["metadata"]["annotations"] = json!({"checksum/secret": sum});
        objects[1] = Object::new(value).unwrap();
        objects
    };
    let both = objects(plan(&annotated("1", "a"), &annotated("2", "b"), &beside("v1", "v2")));
    let finished = objects(plan(&both, &annotated("2", "c"), &alone("v2")));
    assert_eq!(template(&finished, "Deployment shop-v2"), template(&both, "Deployment shop-v2"));
}

fn scaler(version: &str, kind: &str, spec: &str) -> String {
    format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: shop}}, spec: {{{spec}}}}}")
}

/// Autoscalers, and whether each version has its own, so that the selectors of their targets must not overlap.
fn scalers() -> Vec<(String, bool)> {
    let target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}";
    let trigger = |kind: &str| format!("scaleTargetRef: {{name: shop}}, triggers: [{{type: {kind}}}]");
    let policy = "targetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}";
    vec![
        (scaler("autoscaling/v2", "HorizontalPodAutoscaler", target), true),
        (scaler("autoscaling/v1", "HorizontalPodAutoscaler", target), true),
        (scaler("keda.sh/v1alpha1", "ScaledObject", &trigger("cpu")), true),
        (scaler("keda.sh/v1alpha1", "ScaledObject", &trigger("prometheus")), true),
        (scaler("keda.sh/v1alpha1", "ScaledObject", &trigger("kafka")), false),
        (scaler("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", policy), false),
        (scaler("http.keda.sh/v1alpha1", "HTTPScaledObject", target), false),
        (scaler("datadoghq.com/v1alpha2", "DatadogPodAutoscaler", policy), false),
        (scaler("autoscaling/v2", "HorizontalPodAutoscaler", &target.replace("shop", "worker")), false),
        (
            scaler("autoscaling/v2", "HorizontalPodAutoscaler", &target.replace("Deployment", "StatefulSet")),
            false,
        ),
    ]
}

#[test]
fn an_autoscaler_on_a_deployment_with_the_charts_selector_is_refused_before_kubernetes_does() {
    for (scaler, is_refused) in scalers() {
        let (old, new) = (chart("1", "", &scaler), chart("2", "", &scaler));
        let planned = plan(&old, &new, &beside("v1", "v2"));
        let expected: &[Check] = if is_refused { &[Check::SelectorUnchanged] } else { &[] };
        assert_eq!(planned.failed_checks(), expected, "{scaler}: {:?}", planned.refusals);
        let is_vertical =
            planned.warnings.iter().any(|one| one.contains("recommends from the canary's pods too"));
        assert_eq!(is_vertical, scaler.contains("Vertical"), "{scaler}: {:?}", planned.warnings);
        // A new installation has a selector that names the version.
        let deployed = objects(plan(&[], &old, &alone("v1")));
        assert_eq!(plan(&deployed, &new, &beside("v1", "v2")).refusals, [], "{scaler}: narrowed");
        assert_eq!(
            plan(&old, &chart("2", "", ""), &beside("v1", "v2")).is_refused(),
            is_refused,
            "{scaler}: gone"
        );
        assert_eq!(plan(&chart("1", "", ""), &new, &beside("v1", "v2")).refusals, [], "{scaler}: new");
    }
}

/// Workloads that are shared, and whose selector another version of the chart changes.
#[test]
fn a_selector_that_the_end_of_the_promotion_would_change_is_refused_before_the_canary_comes() {
    for (kind, is_refused) in
        [("Deployment", true), ("StatefulSet", true), ("DaemonSet", true), ("PodDisruptionBudget", false)]
    {
        let other = |app: &str| {
            format!(
                "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: worker}}, spec: {{selector: {{matchLabels: {{app: {app}}}}}, \
                 template: {{metadata: {{labels: {{app: {app}}}}}}}}}}}"
            )
        };
        let (old, new) = (chart("1", "", &other("a")), chart("2", "", &other("b")));
        let planned = plan(&old, &new, &beside("v1", "v2"));
        let expected: &[Check] = if is_refused { &[Check::SelectorUnchanged] } else { &[] };
        assert_eq!(planned.failed_checks(), expected, "{kind}: {:?}", planned.refusals);
        let alone = plan(&old, &new, &alone("v1"));
        assert_eq!(alone.failed_checks(), expected, "{kind} alone: {:?}", alone.refusals);
        assert_eq!(
            plan(&old, &chart("2", "", &other("a")), &beside("v1", "v2")).refusals,
            [],
            "{kind} unchanged"
        );
        assert_eq!(names(&old).len(), 3);
    }
}
