//! A chart whose two versions run beside each other is upgraded without the post-renderer.

use crate::adopting::{adopt, uids};
use canary_operations::Cluster;
use canary_release::plan::LabelDirection;
use canary_release::spec::Release;
use canary_release::status::problems;
use fake_api_server::fixture::{SHOP, apply, finish, promote, release, run, shop};
use fake_api_server::{FakeApi, State};
use serde_json::{Value, json};

/// A Deployment as the post-renderer leaves it for Helm.
fn rendered(name: &str, version: &str, image: &str) -> Value {
    let labels = json!({"app": "shop", "version": version});
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": SHOP, "annotations":
            {"meta.helm.sh/release-name": "shop", "canary-ctl.io/version": version}},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "shop", "image": image}]}}}})
}

/// The shop by a chart: stable `v1` and canary `v2`, and both are ready.
pub(crate) fn by_chart() -> FakeApi {
    let api = shop();
    for pod in ["shop-v1", "shop-v2"] {
        api.state().store.remove("Pod", pod);
    }
    api.state().create(&rendered("shop", "v1", "shop:1"));
    api.state().create(&rendered("shop-v2", "v2", "shop:2"));
    api
}

/// What `helm upgrade` writes of the chart alone.
pub(crate) fn upgrade_without_post_renderer(api: &FakeApi) {
    let mut state = api.state();
    delete(&mut state, "shop-v2");
    state.edit_as("helm", "Deployment", "shop", |deployment| {
        deployment["metadata"]["annotations"].as_object_mut().unwrap().shift_remove("canary-ctl.io/version");
        let template = &mut deployment["spec"]["template"];
        template["metadata"]["labels"].as_object_mut().unwrap().shift_remove("version");
        template["spec"]["containers"][0]["image"] = "shop:2".into();
    });
}

/// What `helm rollback` writes: what was rendered before.
fn roll_back(api: &FakeApi) {
    let mut state = api.state();
    let before = rendered("shop", "v1", "shop:1");
    state.edit_as("helm", "Deployment", "shop", |deployment| {
        deployment["spec"] = before["spec"].clone();
        deployment["metadata"]["annotations"] = before["metadata"]["annotations"].clone();
    });
    state.create(&rendered("shop-v2", "v2", "shop:2"));
}

/// A Deployment goes with what it has made.
fn delete(state: &mut State, deployment: &str) {
    state.store.remove("Deployment", deployment);
    let made = state.store.names(&["ReplicaSet", "Pod"]).into_iter();
    let made: Vec<String> = made.filter(|name| name.contains(&format!(" {deployment}-"))).collect();
    for name in made {
        let (kind, name) = name.split_once(' ').unwrap();
        state.store.remove(kind, name);
    }
}

pub(crate) async fn found(cluster: &Cluster, release: &Release) -> Vec<String> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
    problems(&observation, None, 0).iter().map(ToString::to_string).collect()
}

#[test]
fn the_deployment_is_named_with_its_label_its_image_and_the_version_that_was_deleted() {
    run(async {
        let (api, release) = (by_chart(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        assert_eq!(found(&cluster, &release).await, [""; 0]);
        upgrade_without_post_renderer(&api);
        let expected = "Deployment shop/shop makes pods without the label `version`, expected `v1`, image `shop:2` instead of `shop:1`: \
                        they replace those of `v1` (stable), whose users get errors when the last one has ended; no Deployment makes \
                        pods of `v2`";
        assert_eq!(found(&cluster, &release).await, [expected, "version `v1` has no pod"]);

        roll_back(&api);
        assert_eq!(found(&cluster, &release).await, [""; 0]);
    });
}

#[test]
fn what_helm_deploys_of_a_version_that_is_gone_is_named_after_the_promotion_is_finished() {
    run(async {
        let (api, release) = (by_chart(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        promote(&cluster, &release).await.unwrap();
        let unfinished = async || {
            let record = cluster.get_record(&release.name).await.unwrap().record;
            let found = cluster.unfinished_deployments(&release.name, &record).await.unwrap();
            found
                .into_iter()
                .map(|one| (one.deployment.name, one.version, one.helm.unwrap().name))
                .collect::<Vec<_>>()
        };
        assert_eq!(unfinished().await, [], "it drains");
        finish(&cluster, &release).await.unwrap();
        assert_eq!(unfinished().await, [("shop".to_owned(), "v1".to_owned(), "shop".to_owned())]);
        delete(&mut api.state(), "shop");
        assert_eq!(unfinished().await, [], "finished by Helm, too");
    });
}

#[test]
fn an_upgrade_between_the_adoption_and_the_first_rendered_deployment_is_named_until_it_is_taken_back() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let running = |image: &str| {
            let mut deployment = rendered("shop", "v1", image);
            deployment["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "shop"});
            deployment["spec"]["selector"] = json!({"matchLabels": {"app": "shop"}});
            deployment["spec"]["template"]["metadata"]["labels"] = json!({"app": "shop"});
            deployment
        };
        api.state().store.remove("Pod", "shop-v1");
        api.state().create(&running("shop:1"));
        let (cluster, before) = (api.cluster().await, uids(&api));
        adopt(&cluster, LabelDirection::Add).await.unwrap();
        apply(&cluster, &release).await.unwrap();
        assert_eq!((found(&cluster, &release).await, uids(&api)), (Vec::new(), before), "adopted");

        // The label is not Helm's, so Helm leaves it.
        let set_image = |image: &str| {
            api.state().edit_as("helm", "Deployment", "shop", |deployment| {
                deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
            });
        };
        set_image("shop:2");
        let [problem] = &found(&cluster, &release).await[..] else { panic!("one expected") };
        let expected = "Deployment shop/shop has another template than when its pods got the label `version: v1`, image `shop:2` instead \
                        of `shop:1`: users of `v1` (stable) get these pods, and those before end with their sessions";
        assert!(problem.starts_with(expected), "{problem}");
        set_image("shop:1");
        assert_eq!(found(&cluster, &release).await, [""; 0], "rolled back");
    });
}

#[test]
fn a_status_without_the_right_to_list_workloads_says_everything_else() {
    run(async {
        for resource in ["deployments", "replicasets"] {
            let (api, release) = (by_chart(), release(&Value::Null));
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            upgrade_without_post_renderer(&api);
            api.state().access.deny("list", resource);
            let found = found(&cluster, &release).await;
            assert!(
                found.iter().any(|problem| problem == "version `v1` has no pod"),
                "{resource}: {found:?}"
            );
        }
    });
}
