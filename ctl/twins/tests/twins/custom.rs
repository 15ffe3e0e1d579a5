//! References in custom resources: they follow the twin's names, or the output names them.

use crate::chart::{CONFIG_VOLUME, alone, beside, chart, config, names, object, objects};
use helm_twins::{Check, plan};

/// Fields of a custom resource below `spec`, and whether `shop`, the Deployment, becomes `shop-v2` there.
const WORKLOADS: [(&str, bool); 16] = [
    ("{targetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}}", true),
    ("{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}}", true),
    ("{scaleTargetRef: {name: shop}}", true),
    ("{scaleTargetRef: {deployment: shop}}", true),
    ("{workloadRef: {apiVersion: apps/v1, kind: Deployment, name: shop}}", true),
    ("{targets: [{kind: Deployment, name: shop}]}", true),
    ("{target: {group: apps, kind: Deployment, name: shop, namespace: shop}}", true),
    ("{deploymentName: shop}", true),
    ("{a: [{deploymentRef: {name: shop}}]}", true),
    ("{targetRef: {apiVersion: apps/v1, kind: Deployment, name: shop, namespace: other}}", false),
    ("{targetRef: {apiVersion: example.com/v1, kind: Deployment, name: shop}}", false),
    ("{targetRef: {kind: Service, name: shop}}", false),
    ("{backendRefs: [{name: shop, port: 80}]}", false),
    ("{parentRefs: [{name: shop}], rules: [{backendRefs: [{kind: Service, name: shop}]}]}", false),
    ("{selector: {matchLabels: {app: shop}}}", false),
    ("{host: shop}", false),
];

fn custom(spec: &str) -> String {
    format!("{{apiVersion: example.com/v1, kind: Scaler, metadata: {{name: scaler}}, spec: {spec}}}")
}

#[test]
fn references_to_the_deployment_follow_it_when_the_promotion_is_finished() {
    for (spec, follows) in WORKLOADS {
        let more = custom(spec);
        let (old, new) = (chart("1", "", &more), chart("2", "", &more));
        let planned = plan(&old, &new, &beside("v1", "v2"));
        let is_named = planned.warnings.iter().any(|one| one.contains("Scaler scaler names Deployment shop"));
        assert_eq!(is_named, follows, "{spec}: {:?}", planned.warnings);
        let both = objects(planned);
        assert_eq!(
            object(&both, "Scaler scaler"),
            *old[2].value(),
            "{spec}: it is stable's beside the canary"
        );
        let finished = objects(plan(&both, &new, &alone("v2")));
        let found = object(&finished, "Scaler scaler")["spec"].to_string();
        assert_eq!(found.contains("\"shop-v2\""), follows, "{spec}: {found}");
        let third = objects(plan(&finished, &chart("3", "", &more), &beside("v2", "v3")));
        let finished = objects(plan(&third, &chart("3", "", &more), &alone("v3")));
        let found = object(&finished, "Scaler scaler")["spec"].to_string();
        assert_eq!(found.contains("\"shop-v3\""), follows, "{spec}: {found}");
    }
}

/// The same about the ConfigMap `shop-config`.
#[test]
fn references_to_configuration_follow_its_content() {
    for (spec, follows) in [
        ("{configMapRef: {name: shop-config}}", true),
        ("{valuesFrom: [{kind: ConfigMap, name: shop-config}]}", true),
        ("{from: {configMapKeyRef: {name: shop-config, key: a}}}", true),
        ("{configMap: shop-config}", true),
        ("{configMaps: [shop-config]}", true),
        ("{secretRef: {name: shop-config}}", false),
        ("{note: shop-config}", false),
    ] {
        let more = |text: &str| format!("{}\n---\n{}", config(text), custom(spec));
        let new = chart("2", CONFIG_VOLUME, &more("y"));
        let both = objects(plan(&chart("1", CONFIG_VOLUME, &more("x")), &new, &beside("v1", "v2")));
        let finished = objects(plan(&both, &new, &alone("v2")));
        let twin =
            names(&finished).into_iter().find_map(|one| one.strip_prefix("ConfigMap ").map(str::to_owned));
        let found = object(&finished, "Scaler scaler")["spec"].to_string();
        assert_eq!(found.contains(&format!("{:?}", twin.unwrap())), follows, "{spec}: {found}");
    }
}

#[test]
fn references_in_forms_that_are_not_known_are_named() {
    for (spec, path) in [
        ("{targetRef: {name: shop}}", Some("spec.targetRef.name")),
        ("{workload: {name: shop}}", Some("spec.workload.name")),
        ("{restart: deployment/shop}", Some("spec.restart")),
        ("{restart: [deployments.apps/shop]}", Some("spec.restart[0]")),
        ("{of: {kind: deployment, name: shop}}", Some("spec.of.name")),
        ("{of: {kind: deployment, name: other}}", None),
        ("{restart: service/shop}", None),
        ("{url: http://deployment/shop}", None),
        ("{settingsRef: {name: shop-config}}", Some("spec.settingsRef.name")),
        ("{settingsName: shop-config}", Some("spec.settingsName")),
        ("{backendRefs: [{name: shop}]}", None),
        ("{serviceName: shop}", None),
        ("{host: shop}", None),
        ("{selector: {targetName: shop}}", None),
    ] {
        let more = |text: &str| format!("{}\n---\n{}", config(text), custom(spec));
        let (old, new) = (chart("1", CONFIG_VOLUME, &more("x")), chart("2", CONFIG_VOLUME, &more("y")));
        let both = plan(&old, &new, &beside("v1", "v2"));
        for (phase, planned) in [("end", plan(&both.objects, &new, &alone("v2"))), ("beside", both)] {
            let named: Vec<_> =
                planned.warnings.iter().filter(|one| one.contains("is not followed")).collect();
            assert_eq!(named.len(), usize::from(path.is_some()), "{phase}: {spec}: {:?}", planned.warnings);
            if let (Some(path), Some(named)) = (path, named.first()) {
                assert!(named.contains(&format!("in `{path}`")), "{phase}: {named}");
            }
        }
    }
}

/// Another tool for canaries makes the pods of the Deployment's template.
#[test]
fn a_deployment_whose_pods_another_tool_makes_is_refused() {
    let target = "{apiVersion: apps/v1, kind: Deployment, name: shop}";
    for (version, kind, spec, is_refused) in [
        ("argoproj.io/v1alpha1", "Rollout", format!("{{workloadRef: {target}}}"), true),
        ("flagger.app/v1beta1", "Canary", format!("{{targetRef: {target}}}"), true),
        (
            "argoproj.io/v1alpha1",
            "Rollout",
            "{workloadRef: {kind: Deployment, name: worker}}".to_owned(),
            false,
        ),
        ("example.com/v1", "Canary", format!("{{targetRef: {target}}}"), false),
    ] {
        let more = format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: shop}}, spec: {spec}}}");
        let planned = plan(&chart("1", "", &more), &chart("2", "", &more), &beside("v1", "v2"));
        let expected: &[Check] = if is_refused { &[Check::OneDeployment] } else { &[] };
        assert_eq!(planned.failed_checks(), expected, "{more}: {:?}", planned.refusals);
    }
}
