//! Objects of a chart in namespaces beside the release's.

use crate::chart::{CONFIG_VOLUME, alone, beside, chart, config, names, objects};
use helm_twins::{Action, Object, plan};
use serde_json::{Value, json};

fn in_namespace(objects: &[Object], namespace: &str) -> Vec<Object> {
    let place = |object: &Object| {
        let mut value = object.value().clone();
        value["metadata"]["namespace"] = json!(namespace);
        Object::new(value).unwrap()
    };
    objects.iter().map(place).collect()
}

fn namespaces(objects: &[Object], name: &str) -> Vec<Value> {
    let found = objects.iter().filter(|object| object.to_string() == name);
    found.map(|object| object.value()["metadata"]["namespace"].clone()).collect()
}

/// Charts begin to write `namespace: {{ .Release.Namespace }}` from one version to the next.
#[test]
fn an_object_in_the_releases_namespace_is_the_same_with_and_without_it() {
    let old = chart("1", CONFIG_VOLUME, &config("x"));
    let new = in_namespace(&chart("2", CONFIG_VOLUME, &config("x")), "shop");
    let both = objects(plan(&old, &new, &beside("v1", "v2")));
    let expected = ["ConfigMap shop-config", "Deployment shop", "Deployment shop-v2", "Service shop"];
    assert_eq!(names(&both), expected);
    let finished = plan(&both, &new, &alone("v2"));
    let gone = finished.decisions.iter().filter(|one| one.action == Action::Gone);
    assert_eq!(gone.map(|one| one.deployed_name.as_str()).collect::<Vec<_>>(), ["shop"], "v1's Deployment");
}

#[test]
fn an_object_of_the_same_name_elsewhere_is_left_alone() {
    let render = |image: &str| {
        let mut objects = chart(image, CONFIG_VOLUME, &config(&format!("'{image}'")));
        objects.extend(in_namespace(&objects, "other"));
        objects
    };
    let both = objects(plan(&render("1"), &render("2"), &beside("v1", "v2")));
    assert_eq!(both.len(), 8, "two twins beside six objects: {:?}", names(&both));
    assert_eq!(namespaces(&both, "Deployment shop-v2"), [Value::Null], "the release's alone has a twin");
    let elsewhere: Vec<_> =
        both.iter().filter(|one| one.value()["metadata"]["namespace"] == "other").collect();
    assert_eq!(
        elsewhere,
        in_namespace(&chart("1", CONFIG_VOLUME, &config("'1'")), "other").iter().collect::<Vec<_>>()
    );
    let finished = objects(plan(&both, &render("2"), &alone("v2")));
    assert_eq!(namespaces(&finished, "Deployment shop"), ["other"]);
}
