//! A user who may write ConfigMaps of another namespace copies a record there.

use super::{ATTACKER, SKIPPED, give_config_maps};
use crate::beside_an_api_server;
use serde_json::{Value, json};
use wasm_tests::api::release_fixture::ReleaseFixture;

#[test]
fn a_config_map_of_a_foreign_namespace_joins_no_train() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "boarded").await;
        let file = ReleaseFixture::file_of(&fixture.document("shop").with("/spec/train", "autumn"));
        let skipped = &SKIPPED[..6];
        let run = async |verb: &[&str]| fixture.run("admin", &file, &[verb, skipped].concat()).await;
        let applied = run(&["apply"]).await;
        assert_eq!(applied.code, 0, "{}", applied.stderr);
        assert_eq!(run(&["weight", "10"]).await.code, 0);
        let promote = ["promote", "--train", "autumn", "--dry-run"];
        let of_train = async || {
            let kubeconfig = api.kubeconfig("admin").unwrap();
            fixture.run_without_file(&kubeconfig, &[&promote[..], skipped].concat()).await
        };
        let before = of_train().await;
        assert!(before.stdout.contains("boarded/shop"), "{}{}", before.stdout, before.stderr);

        api.kubectl(&["create", "namespace", "boarding"]).await.unwrap();
        give_config_maps(api, ATTACKER, &["boarding"]).await;
        let get = ["get", "configmap", "shop-canary", "-n", "boarded", "-o", "json"];
        let mut copy: Value = serde_json::from_str(&api.kubectl(&get).await.unwrap()).unwrap();
        let mut record: Value = serde_json::from_str(copy["data"]["release.json"].as_str().unwrap()).unwrap();
        record["train"]["isInner"] = json!(true);
        record["proxies"] =
            json!([{"namespace": "boarded", "labels": {}}, {"namespace": "boarding", "labels": {}}]);
        copy["data"]["release.json"] = json!(record.to_string());
        let (labels, annotations) = (&copy["metadata"]["labels"], &copy["metadata"]["annotations"]);
        copy["metadata"] = json!({"name": "x-canary", "namespace": "boarding", "labels": labels, "annotations": annotations});
        api.kubectl_as(ATTACKER, &["create", "-f", "-"], &copy.to_string()).await.unwrap();

        let after = of_train().await;
        assert_eq!((after.code, &after.stdout), (before.code, &before.stdout), "{}", after.stderr);
    });
}
