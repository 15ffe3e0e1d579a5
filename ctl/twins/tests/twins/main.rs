//! A chart with one feature at a time, in two versions, through the whole function.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod chart;
mod checks;
mod custom;
mod namespaces;
mod replicas;
mod sharing;
mod stable;

use chart::{CONFIG_VOLUME, alone, beside, chart, config, names, object, objects};
use helm_twins::{Action, Check, HookAnswer, Object, Phase, plan};
use serde_json::json;

#[test]
fn a_new_image_makes_a_second_deployment_and_leaves_stable_as_it_is() {
    let (old, new) = (chart("1", "", ""), chart("2", "", ""));
    let output = objects(plan(&old, &new, &beside("v1", "v2")));
    assert_eq!(names(&output), ["Deployment shop", "Deployment shop-v2", "Service shop"]);
    assert_eq!(object(&output, "Service shop"), *old[0].value(), "both versions use stable's Service");
    let stable = object(&output, "Deployment shop");
    assert_eq!(stable["spec"]["template"]["spec"], old[1].value()["spec"]["template"]["spec"]);
    assert_eq!(stable["spec"]["selector"], json!({"matchLabels": {"app": "shop"}}), "it cannot change");
    assert_eq!(stable["spec"]["template"]["metadata"]["labels"]["version"], "v1");
    let twin = object(&output, "Deployment shop-v2");
    assert_eq!(twin["spec"]["selector"], json!({"matchLabels": {"app": "shop", "version": "v2"}}));
    assert_eq!(twin["spec"]["template"]["metadata"]["labels"]["version"], "v2");
    assert_eq!(twin["spec"]["template"]["spec"]["containers"][0]["image"], "shop:2");
}

#[test]
fn configuration_that_differs_is_named_by_its_content_and_the_rest_is_shared() {
    let shared = "{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {p: x}}";
    let volumes = "      volumes:
        - projected: {sources: [{configMap: {name: shop-config}}, {secret: {name: db}}]}";
    let more = |text: &str| format!("{}\n---\n{shared}", config(text));
    let output = objects(plan(
        &chart("1", volumes, &more("x")),
        &chart("1", volumes, &more("y")),
        &beside("v1", "v2"),
    ));
    let config_maps: Vec<_> =
        names(&output).into_iter().filter(|name| name.starts_with("ConfigMap")).collect();
    assert_eq!(config_maps.len(), 2, "{config_maps:?}");
    let twin_name = config_maps[1].strip_prefix("ConfigMap ").unwrap();
    assert!(twin_name.len() == "shop-config-".len() + 8, "eight digits of the hash: {twin_name}");
    let twin = object(&output, "Deployment shop-v2");
    let sources = &twin["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"];
    assert_eq!(*sources, json!([{"configMap": {"name": twin_name}}, {"secret": {"name": "db"}}]));
}

#[test]
fn three_releases_in_a_row_leave_no_object_behind_and_names_do_not_grow() {
    let render = |version: &str| chart(version, CONFIG_VOLUME, &config(&format!("'{version}'")));
    let mut deployed = objects(plan(&[], &render("1"), &alone("v1")));
    assert_eq!(names(&deployed), ["ConfigMap shop-config", "Deployment shop", "Service shop"]);
    for (stable, candidate, image) in [("v1", "v2", "2"), ("v2", "v3", "3"), ("v3", "v4", "4")] {
        let both = objects(plan(&deployed, &render(image), &beside(stable, candidate)));
        assert_eq!(both.len(), 5, "two versions and a Service: {:?}", names(&both));
        let again = objects(plan(&both, &render(image), &beside(stable, candidate)));
        assert_eq!(again, both, "the same render changes nothing");
        let finished = objects(plan(&both, &render(image), &alone(candidate)));
        assert_eq!(finished.len(), 3, "{:?}", names(&finished));
        let name = format!("Deployment shop-{candidate}");
        let template = |objects: &[Object]| object(objects, &name)["spec"]["template"].clone();
        assert_eq!(template(&finished), template(&both), "the end of a promotion restarts no pod");
        deployed = finished;
    }
    let config_map = names(&deployed).remove(0);
    assert_eq!(config_map.len(), "ConfigMap shop-config-12345678".len(), "{config_map}");
}

#[test]
fn stable_alone_again_is_what_it_was_before_the_candidate() {
    let render = |version: &str| chart(version, CONFIG_VOLUME, &config(&format!("'{version}'")));
    let stable = objects(plan(&[], &render("1"), &alone("v1")));
    let both = objects(plan(&stable, &render("2"), &beside("v1", "v2")));
    let back = plan(&both, &render("1"), &alone("v1"));
    let gone = back.decisions.iter().filter(|one| one.action == Action::Gone);
    let gone: Vec<_> = gone.map(|one| one.deployed_name.as_str()).collect();
    assert!(gone.len() == 2 && gone.contains(&"shop-v2"), "the Deployment and its ConfigMap: {gone:?}");
    assert_eq!(objects(back), stable);
}

#[test]
fn an_autoscaler_owns_the_replicas_and_each_version_has_one() {
    let hpa = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: shop}, spec: {minReplicas: 3,
        maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}}}";
    let mut rules = beside("v1", "v2");
    rules.replicas = Some(1);
    let deployed = objects(plan(&[], &chart("1", "", hpa), &alone("v1")));
    let output = objects(plan(&deployed, &chart("2", "", hpa), &rules));
    let twin = object(&output, "HorizontalPodAutoscaler shop-v2");
    assert_eq!(
        (&twin["spec"]["scaleTargetRef"]["name"], &twin["spec"]["minReplicas"]),
        (&json!("shop-v2"), &json!(1))
    );
    assert_eq!(object(&output, "HorizontalPodAutoscaler shop")["spec"]["minReplicas"], 3);
    assert_eq!(object(&output, "Deployment shop-v2")["spec"]["replicas"], json!(null));
    // Two autoscalers whose targets' selectors overlap both stop.
    let selector = &object(&output, "Deployment shop")["spec"]["selector"];
    assert_eq!(*selector, json!({"matchLabels": {"app": "shop", "version": "v1"}}));
}

#[test]
fn the_replicas_of_the_canary_can_be_fewer() {
    let mut rules = beside("v1", "v2");
    rules.replicas = Some(1);
    let output = objects(plan(&chart("1", "", ""), &chart("2", "", ""), &rules));
    assert_eq!(object(&output, "Deployment shop-v2")["spec"]["replicas"], 1);
    assert_eq!(object(&output, "Deployment shop")["spec"]["replicas"], 2, "stable's are left alone");
    let finished = objects(plan(&output, &chart("2", "", ""), &alone("v2")));
    assert_eq!(object(&finished, "Deployment shop-v2")["spec"]["replicas"], 2, "the chart's again");
}

#[test]
fn rules_of_a_role_get_the_twins_names_too_and_lose_stables_at_the_end() {
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [''],
        resources: [configmaps], resourceNames: [shop-config, other], verbs: [get]}]}";
    let more = |text: &str| format!("{}\n---\n{role}", config(text));
    let (old, new) = (chart("1", CONFIG_VOLUME, &more("x")), chart("2", CONFIG_VOLUME, &more("y")));
    let both = objects(plan(&old, &new, &beside("v1", "v2")));
    let listed = |objects: &[Object]| object(objects, "Role r")["rules"][0]["resourceNames"].clone();
    let twin = names(&both)[1].strip_prefix("ConfigMap ").unwrap().to_owned();
    assert_eq!(listed(&both), json!(["shop-config", "other", twin]));
    assert_eq!(listed(&objects(plan(&both, &new, &alone("v2")))), json!([twin, "other"]));
}

#[test]
fn terms_about_the_deployments_own_pods_mean_the_same_version() {
    let affinity = "      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: shop}}}
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 1, podAffinityTerm: {topologyKey: host, labelSelector: {matchLabels: {app: shop}}}}
            - {weight: 1, podAffinityTerm: {topologyKey: host, labelSelector: {matchLabels: {app: other}}}}";
    let output = objects(plan(&chart("1", affinity, ""), &chart("2", affinity, ""), &beside("v1", "v2")));
    let spec = &object(&output, "Deployment shop-v2")["spec"]["template"]["spec"];
    let own = json!({"matchLabels": {"app": "shop", "version": "v2"}});
    assert_eq!(spec["topologySpreadConstraints"][0]["labelSelector"], own);
    let terms = &spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms[0]["podAffinityTerm"]["labelSelector"], own);
    assert_eq!(terms[1]["podAffinityTerm"]["labelSelector"], json!({"matchLabels": {"app": "other"}}));
}

#[test]
fn what_must_not_run_twice_stays_stables_until_the_end() {
    let worker = |image: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: worker}}, spec: {{selector: {{matchLabels: {{app: worker}}}},
             template: {{metadata: {{labels: {{app: worker}}}}, spec: {{containers: [{{name: w, image: 'w:{image}'}}]}}}}}}}}"
        )
    };
    let (old, new) = (chart("1", "", &worker("1")), chart("2", "", &worker("2")));
    let plan_beside = plan(&old, &new, &beside("v1", "v2"));
    let decision = plan_beside.decisions.iter().find(|one| one.name == "worker").unwrap();
    assert_eq!((decision.action, decision.differences.len()), (Action::Shared, 1));
    assert_eq!(
        plan_beside.warnings,
        ["the canary runs with stable's Deployment worker until the promotion is finished"]
    );
    let image = |objects: &[Object]| {
        object(objects, "Deployment worker")["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    };
    let both = objects(plan_beside);
    assert_eq!(image(&both), "w:1");
    assert_eq!(image(&objects(plan(&both, &new, &alone("v2")))), "w:2");
}

#[test]
fn objects_that_are_new_come_with_the_canary_and_those_that_are_gone_go_at_the_end() {
    let account =
        |name: &str| format!("{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: {name}}}}}");
    let (old, new) = (chart("1", "", &account("old")), chart("2", "", &account("new")));
    let both = objects(plan(&old, &new, &beside("v1", "v2")));
    let accounts = |objects: &[Object]| {
        names(objects).into_iter().filter(|one| one.contains("Account")).collect::<Vec<_>>()
    };
    assert_eq!(accounts(&both), ["ServiceAccount new", "ServiceAccount old"]);
    assert_eq!(accounts(&objects(plan(&both, &new, &alone("v2")))), ["ServiceAccount new"]);
}

#[test]
fn hooks_run_only_if_that_is_decided() {
    let hook = "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}},
        spec: {template: {spec: {containers: [{name: m, image: m}]}}}}";
    let (old, new) = (chart("1", "", ""), chart("2", "", hook));
    assert_eq!(plan(&old, &new, &beside("v1", "v2")).failed_checks(), [Check::HooksAnswered]);
    for (answer, expected) in [(HookAnswer::Run, 1), (HookAnswer::Skip, 0)] {
        let mut rules = beside("v1", "v2");
        rules.hooks = answer;
        let output = objects(plan(&old, &new, &rules));
        let jobs = names(&output).iter().filter(|name| name.starts_with("Job")).count();
        assert_eq!(jobs, expected, "{answer:?}");
    }
}

#[test]
fn a_secret_that_differs_is_refused_until_its_difference_is_decided() {
    let secret = |text: &str| {
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: db}}, stringData: {{p: {text}}}}}")
    };
    let from = "      imagePullSecrets: [{name: db}]";
    let (old, new) = (chart("1", from, &secret("x")), chart("2", from, &secret("y")));
    assert_eq!(plan(&old, &new, &beside("v1", "v2")).failed_checks(), [Check::RandomSecret]);
    let mut rules = beside("v1", "v2");
    rules.shared.insert("db".to_owned());
    let output = objects(plan(&old, &new, &rules));
    assert_eq!(object(&output, "Secret db")["stringData"], json!({"p": "x"}));
    assert_eq!(output.len(), 4, "{:?}", names(&output));
    rules.phase = Phase::Alone { version: "v2".to_owned() };
    let finished = objects(plan(&output, &new, &rules));
    assert_eq!(object(&finished, "Secret db")["stringData"], json!({"p": "x"}), "a random password stays");
    let mut rules = beside("v1", "v2");
    rules.twinned.insert("db".to_owned());
    assert_eq!(objects(plan(&old, &new, &rules)).len(), 5);
}

/// A kind that is shared by name, and one disruption budget over both versions.
#[test]
fn a_disruption_budget_is_shared() {
    let budget = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {selector: {matchLabels: {app: shop}}}}";
    let output = objects(plan(&chart("1", "", budget), &chart("2", "", budget), &beside("v1", "v2")));
    assert_eq!(names(&output).iter().filter(|name| name.contains("Budget")).count(), 1);
}

#[test]
fn hooks_among_the_deployed_objects_are_no_part_of_stable() {
    let hook =
        "{apiVersion: v1, kind: Pod, metadata: {name: t, annotations: {helm.sh/hook: test}}, spec: {}}";
    let output = objects(plan(&chart("1", "", hook), &chart("2", "", hook), &beside("v1", "v2")));
    assert_eq!(names(&output).iter().filter(|name| *name == "Pod t").count(), 1, "{:?}", names(&output));
}

#[test]
fn the_differences_of_a_deployment_are_the_charts() {
    let deployed = objects(plan(&[], &chart("1", "", ""), &alone("v1")));
    let decisions = plan(&deployed, &chart("2", "", ""), &beside("v1", "v2")).decisions;
    let twin = decisions.iter().find(|one| one.action == Action::Twinned).unwrap();
    let fields: Vec<_> = twin.differences.iter().map(|one| one.field.as_str()).collect();
    assert_eq!(fields, ["spec.template.spec.containers[0].image"]);
}

#[test]
fn no_decision_shows_what_a_secret_says() {
    let secret = |text: &str| {
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: db}}, stringData: {{p: {text}}}}}")
    };
    let from = "      imagePullSecrets: [{name: db}]";
    let plan =
        plan(&chart("1", from, &secret("first")), &chart("2", from, &secret("other")), &beside("v1", "v2"));
    let text = serde_json::to_string(&plan).unwrap();
    for hidden in ["Zmlyc3Q", "b3RoZXI", "first", "other"] {
        assert!(!text.contains(hidden), "{hidden} is in {text}");
    }
    assert!(text.contains("(redacted)"), "{text}");
}
