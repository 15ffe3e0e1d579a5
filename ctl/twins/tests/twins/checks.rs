//! Each check refuses what it is named for.

use crate::chart::{alone, beside, chart, config, objects};
use helm_twins::{Check, Object, plan};
use serde_json::{Value, json};

/// A check, what is deployed, and a new render that it refuses.
type Case = (Check, Vec<Object>, Vec<Object>);

/// A Deployment that makes the same pods.
const OTHER: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: all}, spec: {selector: {matchLabels: {app: shop}},
    template: {metadata: {labels: {app: shop}}}}}";

/// The new render with another value at a pointer: of the Service (0) or the Deployment (1).
fn edited(at: usize, pointer: &str, value: Value) -> Vec<Object> {
    let mut objects = chart("2", "", "");
    let mut json = objects[at].value().clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    json.pointer_mut(parent).unwrap()[field] = value;
    objects[at] = Object::new(json).unwrap();
    objects
}

/// What the Service and the Deployment have to be like.
fn workload_cases() -> Vec<Case> {
    let old = || chart("1", "", "");
    let new = || chart("2", "", "");
    let port = json!([{"ports": [{"hostPort": 80}]}]);
    vec![
        (Check::ServiceExists, old(), new()[1..].to_vec()),
        (Check::ServiceUnchanged, old(), edited(0, "/spec/ports", json!([{"port": 81}]))),
        (Check::OneDeployment, old(), chart("2", "", OTHER)),
        (Check::OneDeployment, old(), new()[..1].to_vec()),
        (Check::StableExists, old()[..1].to_vec(), new()),
        (Check::SomethingDiffers, old(), chart("1", "", "")),
        (Check::VersionLabel, old(), edited(1, "/spec/selector/matchLabels/version", json!("x"))),
        (Check::Strategy, old(), edited(1, "/spec/strategy", json!({"type": "Recreate"}))),
        (Check::HostPort, old(), edited(1, "/spec/template/spec/hostNetwork", json!(true))),
        (Check::HostPort, old(), edited(1, "/spec/template/spec/initContainers", port)),
    ]
}

/// What the other objects have to be like.
fn object_cases() -> Vec<Case> {
    let (old, new) = (|| chart("1", "", ""), || chart("2", "", ""));
    let both = |spec: &str, old: &str, new: &str| (chart("1", spec, old), chart("2", spec, new));
    let claim = "      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]";
    let pvc = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}";
    let budget = |name: &str| {
        let spec = "{selector: {matchLabels: {app: shop}}}";
        format!(
            "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {name}}}, spec: {spec}}}"
        )
    };
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {}}}}";
    let taken = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop-v2}}";
    let twin = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {canary-ctl.io/chart-name: other}}}";
    let sealed = |text: &str| {
        format!(
            "{{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {{name: db}}, spec: {{a: {text}}}}}"
        )
    };
    let scaler = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: shop}, spec: {scaleTargetRef: {kind: Deployment, name: shop}}}";
    let labelled = |objects: Vec<Object>| {
        let mut value = objects[1].value().clone();
        value["spec"]["template"]["metadata"]["labels"]["version"] = json!("v0");
        vec![objects[0].clone(), Object::new(value).unwrap()]
    };
    let needs_db = "      imagePullSecrets: [{name: db}]";
    let named = "      initContainers: [{name: i, image: i, args: [--config=shop-config]}]
      volumes: [{name: c, configMap: {name: shop-config}}]";
    let case = |check, (deployed, rendered)| (check, deployed, rendered);
    vec![
        case(Check::SharedClaim, both(claim, pvc, pvc)),
        case(Check::OneDisruptionBudget, both("", &budget("a"), &budget("b"))),
        case(Check::SelectorOverlap, both("", OTHER, "")),
        (Check::HooksAnswered, old(), chart("2", "", job)),
        case(Check::NameInText, both(named, &config("x"), &config("y"))),
        case(Check::SealedSecret, both(needs_db, &sealed("x"), &sealed("y"))),
        (Check::TwinName, old(), chart("2", "", taken)),
        (Check::RenderedOnce, old(), chart("2", "", twin)),
        case(Check::SelectorUnchanged, both("", scaler, scaler)),
        (Check::StablePodsKept, labelled(old()), new()),
    ]
}

#[test]
fn each_check_refuses_what_it_is_named_for_and_nothing_else() {
    for (check, deployed, rendered) in workload_cases().into_iter().chain(object_cases()) {
        let refusals = plan(&deployed, &rendered, &beside("v1", "v2")).refusals;
        let is_it = !refusals.is_empty() && refusals.iter().all(|one| one.check == check);
        assert!(is_it, "{check:?}: {refusals:#?}");
        let mut rules = beside("v1", "v2");
        rules.skip.insert(check);
        let is_refused = plan(&deployed, &rendered, &rules).is_refused();
        assert_eq!(!is_refused, check.can_be_skipped(), "{check:?} skipped");
    }
}

#[test]
fn a_third_version_is_refused_until_the_promotion_before_is_finished() {
    let both = objects(plan(&chart("1", "", ""), &chart("2", "", ""), &beside("v1", "v2")));
    let refused = plan(&both, &chart("3", "", ""), &beside("v2", "v3"));
    assert_eq!(refused.failed_checks(), [Check::TwoVersions], "{:?}", refused.refusals);
}

#[test]
fn the_end_of_a_promotion_with_another_render_than_the_canary_is_refused() {
    let both = objects(plan(&chart("1", "", ""), &chart("2", "", ""), &beside("v1", "v2")));
    let refused = plan(&both, &chart("3", "", ""), &alone("v2"));
    assert_eq!(refused.failed_checks(), [Check::FinishKeepsPods], "{:?}", refused.refusals);
}
