//! Routes of our own beside a `GRPCRoute` and an `HTTPRoute` of others that have one hostname.

use crate::beside_http_routes::{faults, said, select, targets, value};
use crate::make_before_break::watched;
use canary_operations::Error;
use fake_api_server::fixture::{
    apply, finish, promote, release_beside_http_routes, roll_back, run, set_weight, shop_with_grpc_route,
    uninstall,
};
use serde_json::json;

const OURS: [&str; 3] = ["Service", "HTTPRoute", "GRPCRoute"];

#[test]
fn calls_have_routes_of_their_kind_from_apply_to_uninstall() {
    run(async {
        let (api, release) = (shop_with_grpc_route(), release_beside_http_routes(&json!({"weight": 10})));
        let owners = api.state().store.find("GRPCRoute", "calls").unwrap().clone();
        let cluster = api.cluster().await;
        let found = watched(&api, faults);
        apply(&cluster, &release).await.unwrap();
        let expected = [
            "Service shop",
            "Service shop-v1",
            "Service shop-v2",
            "GRPCRoute calls",
            "GRPCRoute shop-canary.v1.grpc-00",
            "GRPCRoute shop-canary.v2.grpc-00",
            "HTTPRoute shop-canary.v1-00",
            "HTTPRoute shop-canary.v2-00",
            "HTTPRoute site",
        ];
        assert_eq!(api.state().store.names(&OURS), expected);
        for version in ["v1", "v2"] {
            let state = api.state();
            let of_version = vec![format!("shop-{version}"); 3];
            assert_eq!(
                targets(&state, &value(&state, version)),
                of_version,
                "two rules of HTTP, one of gRPC"
            );
        }
        assert_eq!(said(&cluster, &release).await, [""; 0]);
        assert!(cluster.plan(&release).await.unwrap().changes.is_empty(), "nothing is left to write");
        set_weight(&cluster, &release, "50").await.unwrap();
        promote(&cluster, &release).await.unwrap();
        select(&api, "v2");
        finish(&cluster, &release).await.unwrap();
        let names = api.state().store.names(&["GRPCRoute"]);
        assert_eq!(names, ["GRPCRoute calls", "GRPCRoute shop-canary.v2.grpc-00"]);
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
        assert_eq!(api.state().store.names(&OURS), ["Service shop", "GRPCRoute calls", "HTTPRoute site"]);
        assert_eq!(api.state().store.find("GRPCRoute", "calls"), Some(&owners), "it is its owner's");
    });
}

#[test]
fn a_rollback_needs_no_route_of_the_owner_that_can_be_repeated() {
    run(async {
        let (api, release) = (shop_with_grpc_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.edit("GRPCRoute", "calls", |route| {
            route["spec"]["rules"][0]["matches"][0]["method"]["type"] = json!("RegularExpression");
        });
        let refused = apply(&cluster, &release).await.unwrap_err().to_string();
        let expected = "`spec.rules[0]` of GRPCRoute shop/calls matches methods by a regular expression";
        assert!(refused.contains(expected), "{refused}");
        assert!(said(&cluster, &release).await.iter().any(|problem| problem.contains(expected)));
        roll_back(&cluster, &release).await.unwrap();
        let names = api.state().store.names(&["GRPCRoute"]);
        assert_eq!(names, ["GRPCRoute calls", "GRPCRoute shop-canary.v1.grpc-00"]);
    });
}

#[test]
fn what_the_owner_changes_is_named_and_derived_again() {
    run(async {
        let (api, release) = (shop_with_grpc_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.edit("GRPCRoute", "calls", |route| {
            route["spec"]["rules"][0]["matches"][0]["method"]["method"] = json!("Pay");
        });
        let found = said(&cluster, &release).await;
        for version in ["v1", "v2"] {
            let object = format!(
                "GRPCRoute shop/shop-canary.{version}.grpc-00 has routes of ours with former settings"
            );
            assert!(found.iter().any(|problem| problem.starts_with(&object)), "{found:?}");
        }
        assert_eq!(cluster.plan(&release).await.unwrap().changes.len(), 2, "`diff` shows both");
        apply(&cluster, &release).await.unwrap();
        assert_eq!(said(&cluster, &release).await, [""; 0]);
        // Routes of a kind that the owner has no more.
        api.state().store.remove("GRPCRoute", "calls");
        apply(&cluster, &release).await.unwrap();
        assert_eq!(api.state().store.names(&["GRPCRoute"]), [""; 0]);
    });
}

#[test]
fn a_cluster_without_the_kind_and_one_where_it_may_not_be_listed_have_routes_of_http() {
    run(async {
        let release = release_beside_http_routes(&json!({"weight": 10}));
        let api = shop_with_grpc_route();
        api.state().access.deny_lists_of_all("grpcroutes");
        let cluster = api.cluster().await;
        let plan = cluster.plan(&release).await.unwrap();
        let notes: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
        assert!(
            notes.iter().any(|note| note.starts_with("not allowed to list HTTPRoutes and GRPCRoutes")),
            "{notes:?}"
        );
        apply(&cluster, &release).await.unwrap();
        let names = api.state().store.names(&["GRPCRoute"]);
        assert_eq!(names.len(), 3, "those of its namespace are read: {names:?}");
        let api = shop_with_grpc_route();
        api.state().access.deny("list", "grpcroutes");
        apply(&api.cluster().await, &release).await.unwrap();
        assert_eq!(api.state().store.names(&["GRPCRoute"]), ["GRPCRoute calls"]);
    });
}

#[test]
fn an_object_of_our_name_is_another_owners() {
    run(async {
        let (api, release) = (shop_with_grpc_route(), release_beside_http_routes(&json!({"weight": 10})));
        let mut theirs = api.state().store.find("GRPCRoute", "calls").unwrap().clone();
        theirs["metadata"] = json!({"name": "shop-canary.v2.grpc-00", "namespace": "shop"});
        theirs["spec"]["rules"][0]["backendRefs"][0]["name"] = json!("blog");
        theirs["spec"]["hostnames"] = json!(["blog.example.com"]);
        api.state().create(&theirs);
        match apply(&api.cluster().await, &release).await {
            Err(Error::Plan(error)) => assert_eq!(
                error.to_string(),
                "cannot write GRPCRoute shop/shop-canary.v2.grpc-00: it belongs to kubectl-create"
            ),
            other => panic!("expected a refusal, found {other:?}"),
        }
    });
}
