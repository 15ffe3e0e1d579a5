use super::*;

fn object(spec: &Value) -> Value {
    let mut all = json!({"versions": {"stable": "v1"}, "hosts": ["shop.example.com"], "stickiness": "session",
        "session": {"cookie": "SID"}, "identifyBy": [{"cookie": "SID"}], "gateways": [{"name": "ingress/gateway"}]});
    for (name, value) in spec.as_object().unwrap() {
        all[name] = value.clone();
    }
    json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop", "uid": "of-the-api-server", "generation": 7,
            "resourceVersion": "9", "managedFields": []},
        "spec": all, "status": {"phase": "Stable"}})
}

#[test]
fn what_the_api_server_adds_is_no_part_of_the_release() {
    let release = release_of(&object(&json!({}))).unwrap();
    assert_eq!((release.name.to_string().as_str(), release.uid), ("shop/shop", None));
    assert_eq!(release.metadata.annotations[CARRIED_OUT_BY], CONTROLLER, "a controller knows its objects");
}

#[test]
fn what_is_of_one_machine_is_refused() {
    for (spec, part) in [
        (
            json!({"delivery": {"mode": "local", "local": {"listen": "127.0.0.1:1", "admin": "127.0.0.1:2",
            "endpoints": {"v1": ["127.0.0.1:3"]}}}, "gateways": null}),
            "mode: local",
        ),
        (json!({"stickyness": "user"}), "stickyness"),
    ] {
        let error = release_of(&object(&spec)).unwrap_err().to_string();
        assert!(error.contains(part), "{spec}: {error}");
    }
}
