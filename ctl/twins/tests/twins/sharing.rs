//! What public charts change from one version to the next without a difference for the pods, and what goes with it.

use crate::chart::{CONFIG_VOLUME, alone, beside, chart, config, names, objects};
use helm_twins::{Action, Check, Object, plan};
use serde_json::json;

/// The pods see its content alone, and a twin by content would have the name that stable's has already.
#[test]
fn configuration_that_differs_in_its_labels_alone_is_shared() {
    let labelled = |image: &str, label: &str| {
        let mut objects = chart(image, CONFIG_VOLUME, &config("x"));
        let last = objects.pop().unwrap();
        let mut value = last.value().clone();
        value["metadata"]["labels"] = json!({"part-of": label});
        objects.push(Object::new(value).unwrap());
        objects
    };
    let mut deployed = objects(plan(&[], &chart("1", CONFIG_VOLUME, &config("w")), &alone("v1")));
    for (stable, candidate, image) in [("v1", "v2", "2"), ("v2", "v3", "3")] {
        let both = objects(plan(&deployed, &labelled(image, image), &beside(stable, candidate)));
        let config_maps = names(&both).iter().filter(|name| name.starts_with("ConfigMap")).count();
        assert_eq!(config_maps, if image == "2" { 2 } else { 1 }, "{:?}", names(&both));
        deployed = objects(plan(&both, &labelled(image, image), &alone(candidate)));
    }
}

#[test]
fn a_released_deployment_that_is_the_same_does_not_differ_in_what_distinguishes_versions() {
    let deployed = objects(plan(&[], &chart("1", "", ""), &alone("v1")));
    let plan = plan(&deployed, &chart("1", "", ""), &beside("v1", "v2"));
    assert_eq!(plan.failed_checks(), [Check::SomethingDiffers]);
    let found = plan.decisions.iter().flat_map(|one| &one.differences).collect::<Vec<_>>();
    assert_eq!((found, plan.warnings.len()), (Vec::new(), 0), "{:?}", plan.warnings);
}

/// An object that goes may take others along.
#[test]
fn a_definition_of_resources_that_goes_is_warned_of() {
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.com,
        annotations: {helm.sh/resource-policy: keep}}}";
    let plan = plan(&chart("1", "", definition), &chart("2", "", ""), &beside("v1", "v2"));
    assert_eq!(plan.refusals, []);
    let gone = plan.decisions.iter().find(|one| one.action == Action::Gone).unwrap();
    assert!(gone.reason.ends_with("Helm leaves it (`helm.sh/resource-policy: keep`)"), "{}", gone.reason);
    let expected = "this version of the chart has no CustomResourceDefinition a.example.com any more: what deletes it at the end of the \
                    promotion deletes every object of it";
    assert_eq!(plan.warnings, [expected]);
}

#[test]
fn a_program_that_elects_a_leader_is_warned_of() {
    for argument in ["--leader-elect", "--enable-leader-election=true", "--election-id=shop"] {
        let spec = format!("      initContainers: [{{name: i, image: i, args: ['{argument}']}}]");
        let plan = plan(&chart("1", &spec, ""), &chart("2", &spec, ""), &beside("v1", "v2"));
        let expected =
            "Deployment shop elects a leader: the versions share the Lease, and either may be the leader";
        assert_eq!(plan.warnings, [expected], "{argument}");
    }
}
