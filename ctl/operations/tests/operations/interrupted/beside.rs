//! Routes beside an `HTTPRoute` of another owner, and beside a `GRPCRoute` too, by operations that are killed.

use super::{Operation, carry_out, count_writes};
use canary_operations::Error;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{release_beside_http_routes, run, shop_with_grpc_route, shop_with_http_route};
use serde_json::json;

use Operation::{Apply, Finish, Promote, RollBack, Uninstall};

#[test]
fn each_operation_is_continued_after_any_write() {
    let cases = [
        (&[][..], Apply),
        (&[Apply], Promote),
        (&[Apply], RollBack),
        (&[Apply, Promote], Finish),
        (&[Apply], Uninstall),
    ];
    run(async {
        let shops: [(Shop, _); 2] =
            [(shop_with_http_route, [17, 4, 5, 7, 14]), (shop_with_grpc_route, [19, 4, 6, 8, 16])];
        for (shop, expected) in shops {
            let mut writes = Vec::new();
            for (before, operation) in cases {
                let case = async |writes| continued(shop, (before, operation), writes).await;
                writes.push(count_writes(case).await);
            }
            assert_eq!(writes, expected, "the writes of each");
        }
    });
}

type Shop = fn() -> FakeApi;

/// Kills an operation after so many writes and carries it out again; whether it was killed.
async fn continued(shop: Shop, (before, operation): (&[Operation], Operation), writes: u32) -> bool {
    let (api, release) = (shop(), release_beside_http_routes(&json!({"weight": 20})));
    let cluster = api.cluster().await;
    for operation in before {
        carry_out(*operation, &cluster, &release).await.unwrap();
    }
    if matches!(operation, Finish) {
        api.state()
            .store
            .edit("Service", "shop", |service| service["spec"]["selector"]["version"] = json!("v2"));
    }
    let ended = api.killed_after(writes, async |process| carry_out(operation, process, &release).await).await;
    if let Some(done) = ended {
        done.unwrap();
        return false;
    }
    let context = format!("{operation:?} after {before:?}, killed after {writes} writes");
    assert_routes_lead_to_services(&api, &context);
    match carry_out(operation, &cluster, &release).await {
        // Killed after the record was deleted.
        Err(Error::Unknown { .. }) if matches!(operation, Uninstall) => {}
        continued => continued.unwrap_or_else(|error| panic!("{context}: {error}")),
    }
    assert_routes_lead_to_services(&api, &context);
    let ours: Vec<String> = ours(&api);
    let versions: &[&str] = match operation {
        Apply | Promote => &["v1", "v2"],
        RollBack => &["v1"],
        Finish => &["v2"],
        Uninstall => &[],
    };
    let calls = api.state().store.find("GRPCRoute", "calls").is_some();
    let names = ["shop-VERSION", "shop-canary.VERSION.grpc-00", "shop-canary.VERSION-00"];
    let names = names.iter().filter(|name| calls || !name.contains("grpc"));
    let expected: Vec<String> =
        names.flat_map(|name| versions.iter().map(|version| name.replace("VERSION", version))).collect();
    assert_eq!(ours, expected, "{context}");
    if let Some(stored) = cluster.find_record(&release.name).await.unwrap() {
        let left = cluster.unfinished(&release.name, &stored.record).await.unwrap();
        assert!(left.is_empty() && stored.record.leaving.is_empty(), "{context}: {left:?} is left");
        let owned = stored.record.objects.iter().filter(|(_, object)| object.namespace == "shop");
        assert_eq!(owned.count(), expected.len(), "{context}: the record names what exists");
    }
    true
}

/// The names of our routes and Services.
fn ours(api: &FakeApi) -> Vec<String> {
    let names = api.state().store.names(&["Service", "HTTPRoute", "GRPCRoute"]);
    let names = names.iter().filter_map(|name| name.split(' ').next_back());
    names.filter(|name| !["shop", "site", "calls"].contains(name)).map(str::to_owned).collect()
}

/// Fails if a route leads to a Service that does not exist.
fn assert_routes_lead_to_services(api: &FakeApi, context: &str) {
    let state = api.state();
    for route in ["HTTPRoute", "GRPCRoute"].into_iter().flat_map(|kind| state.store.of_kind(kind)) {
        for rule in route["spec"]["rules"].as_array().unwrap() {
            let service = rule["backendRefs"][0]["name"].as_str().unwrap();
            assert!(state.store.find("Service", service).is_some(), "{context}: {rule} leads to no Service");
        }
    }
}
