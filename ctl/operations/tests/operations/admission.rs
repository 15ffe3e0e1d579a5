//! What the API server refuses, and rights that are missing.

use canary_operations::Error;
use fake_api_server::fixture::{apply, release, run, shop};
use serde_json::Value;

const WRITTEN: [&str; 6] =
    ["ConfigMap", "Secret", "DestinationRule", "VirtualService", "EnvoyFilter", "Lease"];

#[test]
fn an_apply_of_which_a_policy_refuses_one_object_leaves_nothing_behind() {
    run(async {
        for resource in ["envoyfilters", "virtualservices", "configmaps", "secrets"] {
            let (api, release) = (shop(), release(&Value::Null));
            api.state().access.refuse(resource);
            let refused = apply(&api.cluster().await, &release).await;
            let Err(Error::Refused { code: 403, message, .. }) = refused else {
                panic!("expected a refusal of {resource}, found {refused:?}");
            };
            assert!(
                message.contains("ValidatingAdmissionPolicy 'platform' denied request: ask us"),
                "{message}"
            );
            assert_eq!(api.state().store.names(&WRITTEN), Vec::<String>::new(), "{resource} are refused");
        }
    });
}

#[test]
fn all_missing_rights_are_told_at_once_and_no_others() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        assert_eq!(cluster.missing_rights(&release).await.unwrap(), []);
        for (verb, resource) in [("get", "pods/proxy"), ("patch", "envoyfilters")] {
            api.state().access.deny(verb, resource);
        }
        let missing = cluster.missing_rights(&release).await.unwrap();
        let told: Vec<_> = missing
            .iter()
            .map(|right| {
                let name = right.name.as_deref().unwrap_or("*");
                format!("{} {}/{} in {}", right.verb, right.resource, name, right.namespace)
            })
            .collect();
        let expected = [
            "get pods/proxy/* in ingress",
            "patch envoyfilters/canary-gateway-config in ingress",
            "patch envoyfilters/canary-gateway-filter in ingress",
            "patch envoyfilters/canary-gateway-runtime in ingress",
        ];
        assert_eq!(told, expected);
    });
}
