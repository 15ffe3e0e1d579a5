//! What our routes are: the owner's rules for each version, in as many objects as the limits ask for.

use super::kit::{HEADERS, created, edge, gateway, grant, grpc_route, route, rule, siblings};
use serde_json::{Value, json};

fn derived(routes: &[Value]) -> Vec<Value> {
    siblings(routes, &[edge()], &[]).unwrap()
}

#[test]
fn a_rule_is_repeated_for_each_version_with_all_of_its_fields() {
    let owners = json!([{
        "name": "cart",
        "matches": [{"path": {"type": "Exact", "value": "/cart"}, "method": "GET",
            "headers": [{"name": "x-a", "value": "1"}], "queryParams": [{"name": "q", "value": "2"}]}],
        "filters": [{"type": "URLRewrite", "urlRewrite": {"hostname": "inside"}}],
        "timeouts": {"request": "10s"},
        "backendRefs": [{"name": "shop", "port": 80, "weight": 3}, {"name": "old", "port": 80, "weight": 0}],
    }, rule(&json!([{}]), "blog")]);
    let mut owner = route("shop/web", &owners);
    owner["spec"]["hostnames"] = json!(["shop.example"]);
    let parents = json!([{"namespace": "ingress", "name": "edge", "sectionName": "http"},
        {"namespace": "ingress", "name": "without-filter"}]);
    owner["spec"]["parentRefs"] = parents;
    let of_version = |number: usize| {
        let header = json!({"type": "Exact", "name": "x-canary-version", "value": HEADERS[number - 1]});
        json!({
            "matches": [{"path": {"type": "Exact", "value": "/cart"}, "method": "GET",
                "headers": [{"name": "x-a", "value": "1"}, header], "queryParams": [{"name": "q", "value": "2"}]}],
            "filters": [{"type": "URLRewrite", "urlRewrite": {"hostname": "inside"}}],
            "timeouts": {"request": "10s"},
            "backendRefs": [{"name": format!("shop-v{number}"), "port": 80, "weight": 3}],
        })
    };
    let expected = json!([{
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"namespace": "shop", "name": "shop-canary-00",
            "labels": {"app.kubernetes.io/managed-by": "canary-ctl"}},
        "spec": {
            "parentRefs": [{"namespace": "ingress", "name": "edge", "sectionName": "http"}],
            "hostnames": ["shop.example"],
            "rules": [of_version(1), of_version(2)],
        },
    }]);
    assert_eq!(json!(derived(&[owner])), expected);
}

#[test]
fn a_rule_without_matches_is_repeated_for_every_path() {
    let [ours] = derived(&[route("shop/web", &json!([{"backendRefs": [{"name": "shop", "port": 80}]}]))])
        .try_into()
        .unwrap();
    let matches = &ours["spec"]["rules"][1]["matches"];
    let header = json!({"type": "Exact", "name": "x-canary-version", "value": HEADERS[1]});
    assert_eq!(*matches, json!([{"path": {"type": "PathPrefix", "value": "/"}, "headers": [header]}]));
}

#[test]
fn a_rule_for_calls_is_repeated_with_its_methods_and_filters_in_an_object_of_its_kind() {
    let filter = json!({"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["x-a"]}});
    let rules = json!([
        {
            "matches": [{"method": {"service": "shop.Cart", "method": "Pay"}, "headers": [{"name": "x-b", "value": "1"}]},
                {"method": {"type": "Exact", "service": "shop.Stock"}}],
            "filters": [filter],
            "backendRefs": [{"name": "shop", "port": 9000}],
        },
        {"backendRefs": [{"name": "shop", "port": 9000}]},
    ]);
    let header =
        |number: usize| json!({"type": "Exact", "name": "x-canary-version", "value": HEADERS[number - 1]});
    let of_version = |number: usize| {
        let backends = json!([{"name": format!("shop-v{number}"), "port": 9000}]);
        let matches = json!([
            {"method": {"service": "shop.Cart", "method": "Pay"},
                "headers": [{"name": "x-b", "value": "1"}, header(number)]},
            {"method": {"type": "Exact", "service": "shop.Stock"}, "headers": [header(number)]},
        ]);
        json!({"matches": matches, "filters": [filter], "backendRefs": backends})
    };
    let of_all = |number: usize| {
        let backends = json!([{"name": format!("shop-v{number}"), "port": 9000}]);
        json!({"matches": [{"headers": [header(number)]}], "backendRefs": backends})
    };
    let [ours] = derived(&[grpc_route("shop/calls", &rules)]).try_into().unwrap();
    assert_eq!(ours["kind"], "GRPCRoute");
    assert_eq!(ours["metadata"]["name"], "shop-canary.grpc-00");
    assert_eq!(ours["spec"]["rules"], json!([of_version(1), of_version(2), of_all(1), of_all(2)]));
}

#[test]
fn objects_of_two_kinds_have_different_names_also_where_they_have_one_number() {
    let mut calls = grpc_route("shop/calls", &json!([rule(&json!([{}]), "shop")]));
    calls["spec"]["hostnames"] = json!(["grpc.example"]);
    let mut site = route("shop/site", &json!([rule(&json!([{}]), "shop")]));
    site["spec"]["hostnames"] = json!(["www.example"]);
    let ours = derived(&[calls, site]);
    let names: Vec<String> =
        ours.iter().map(|one| format!("{} {}", one["kind"], one["metadata"]["name"])).collect();
    assert_eq!(names, [r#""GRPCRoute" "shop-canary.grpc-00""#, r#""HTTPRoute" "shop-canary-00""#]);
}

#[test]
fn routes_of_both_kinds_on_one_hostname_are_repeated_where_their_paths_decide() {
    let calls =
        grpc_route("shop/calls", &json!([rule(&json!([{"method": {"service": "shop.Cart"}}]), "shop")]));
    let path = |path: &str| json!([{"path": {"type": "PathPrefix", "value": path}}]);
    let beside = |rule: Value| siblings(&[calls.clone(), route("shop/site", &json!([rule]))], &[edge()], &[]);
    assert_eq!(beside(rule(&path("/"), "shop")).unwrap().len(), 2, "a site for all other paths");
    assert_eq!(beside(rule(&path("/"), "blog")).unwrap().len(), 1);
    assert_eq!(beside(rule(&path("/shop.Cart/Pay"), "blog")).unwrap().len(), 1);
    assert!(beside(rule(&path("/shop.Cart"), "blog")).is_err(), "the same paths");
}

#[test]
fn objects_stay_within_the_limits_of_the_api() {
    let many = |count: usize, at: usize| -> Value {
        (0..count)
            .map(|number| json!({"path": {"type": "Exact", "value": format!("/{at}/{number}")}}))
            .collect()
    };
    // Three rules of 40 matches, and twenty of one, each for two versions.
    let rules: Vec<Value> = (0..3)
        .map(|at| rule(&many(40, at), "shop"))
        .chain((3..23).map(|at| rule(&many(1, at), "shop")))
        .collect();
    let (first, second) = (json!(rules[..12]), json!(rules[12..]));
    let ours = derived(&[route("shop/a", &first), route("shop/b", &second)]);
    let mut repeated = 0;
    for (index, object) in ours.iter().enumerate() {
        assert_eq!(object["metadata"]["name"], format!("shop-canary-{index:02}"));
        let rules = object["spec"]["rules"].as_array().unwrap();
        let matches: Vec<usize> =
            rules.iter().map(|rule| rule["matches"].as_array().unwrap().len()).collect();
        let total: usize = matches.iter().sum();
        assert!(rules.len() <= 16 && total <= 128, "{index}: {} rules, {total} matches", rules.len());
        repeated += total;
    }
    assert_eq!(repeated, 2 * (3 * 40 + 20));
    assert_eq!(ours.len(), 4, "{ours:#?}");
}

#[test]
fn objects_are_in_the_namespace_of_the_service_with_parents_and_hostnames_of_each_route() {
    let mut one = route("shop/a", &json!([rule(&json!([{}]), "shop")]));
    one["spec"]["hostnames"] = json!(["a.example"]);
    let mut other = route("team/b", &json!([rule(&json!([{}]), "shop")]));
    other["spec"]["hostnames"] = json!(["b.example"]);
    other["spec"]["rules"][0]["backendRefs"][0]["namespace"] = json!("shop");
    let mut own = gateway("own", &json!([{"name": "http", "port": 80}]));
    own["metadata"]["namespace"] = json!("team");
    other["spec"]["parentRefs"] = json!([{"name": "own"}]);
    let grants = [grant(&json!({"group": "", "kind": "Service", "name": "shop"}))];
    let ours = siblings(&[one, other], &[edge(), own], &grants).unwrap();
    let places: Vec<String> = ours
        .iter()
        .map(|one| {
            let (metadata, spec) = (&one["metadata"], &one["spec"]);
            format!(
                "{}/{} {} {}",
                metadata["namespace"], metadata["name"], spec["hostnames"][0], spec["parentRefs"][0]
            )
        })
        .collect();
    let expected = [
        r#""shop"/"shop-canary-00" "a.example" {"namespace":"ingress","name":"edge"}"#,
        r#""shop"/"shop-canary-01" "b.example" {"name":"own","namespace":"team"}"#,
    ];
    assert_eq!(places, expected);
}

#[test]
fn a_route_that_no_listener_admits_or_no_grant_lets_lead_to_the_service_is_not_repeated() {
    let mut far = route("team/web", &json!([rule(&json!([{}]), "shop")]));
    far["spec"]["rules"][0]["backendRefs"][0]["namespace"] = json!("shop");
    let grants = [grant(&json!({"group": "", "kind": "Service"}))];
    let at =
        |allowed: Value| gateway("edge", &json!([{"name": "http", "port": 80, "allowedRoutes": allowed}]));
    let by =
        |team: &str| json!({"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": team}}}});
    let count = |gateway: Value, grants: &[Value]| {
        siblings(std::slice::from_ref(&far), &[gateway], grants).map(|found| found.len())
    };
    assert_eq!(count(edge(), &grants), Ok(1));
    assert_eq!(count(edge(), &[]), Ok(0), "without a grant");
    assert_eq!(count(edge(), &[grant(&json!({"group": "", "kind": "Service", "name": "blog"}))]), Ok(0));
    assert_eq!(count(at(by("shop")), &grants), Ok(0), "of another team");
    assert_eq!(count(at(json!({"namespaces": {"from": "Same"}})), &grants), Ok(0));
    assert_eq!(
        count(at(json!({"namespaces": {"from": "All"}, "kinds": [{"kind": "GRPCRoute"}]})), &grants),
        Ok(0)
    );
    // Labels of a name that is not known.
    let mut unknown = far.clone();
    unknown["metadata"]["namespace"] = json!("other");
    assert_eq!(siblings(&[unknown], &[at(by("shop"))], &grants), Ok(Vec::new()));
}

#[test]
fn routes_that_do_not_meet_are_left_alone() {
    let ambiguous = json!([rule(&json!([{"queryParams": [{"name": "beta", "value": "1"}]}]), "blog")]);
    let to_shop = route("shop/web", &json!([rule(&json!([{}]), "shop")]));
    let elsewhere = |field: &str, value: Value| {
        let mut other = route("shop/other", &ambiguous);
        other["spec"][field] = value;
        [to_shop.clone(), other]
    };
    assert!(siblings(&elsewhere("hostnames", json!([])), &[edge()], &[]).is_err(), "the same hostname");
    assert!(siblings(&elsewhere("hostnames", json!(["a.example"])), &[edge()], &[]).is_ok());
    let parents = json!([{"namespace": "ingress", "name": "other"}]);
    let unknown = json!([{"matches": [{"cookies": []}]}]);
    let [ours, mut theirs] = elsewhere("parentRefs", parents);
    theirs["spec"]["rules"] = unknown;
    assert!(siblings(&[ours, theirs], &[edge()], &[]).is_ok(), "of another Gateway nothing is read");
    // By its hostnames a route is attached to one of the listeners.
    let listeners = json!([{"name": "a", "port": 80, "hostname": "a.example"},
        {"name": "b", "port": 80, "hostname": "b.example"}]);
    let [ours, theirs] = elsewhere("hostnames", json!(["b.example"]));
    let named = |mut one: Value, section: &str| {
        one["spec"]["parentRefs"][0]["sectionName"] = json!(section);
        one
    };
    let two = [gateway("edge", &listeners)];
    assert!(siblings(&[named(ours.clone(), "a"), theirs.clone()], &two, &[]).is_ok());
    assert!(siblings(&[named(ours, "b"), theirs], &two, &[]).is_err());
}

#[test]
fn rules_of_several_routes_keep_the_order_of_their_age() {
    let with_timeout = |name: &str, header: &str, timeout: &str, age: &str| {
        let mut rule = rule(&json!([{"headers": [{"name": header, "value": "1"}]}]), "shop");
        rule["timeouts"] = json!({"request": timeout});
        created(route(name, &json!([rule])), age)
    };
    let younger = with_timeout("shop/a", "x-a", "1s", "2026-03-01T00:00:00Z");
    let older = with_timeout("shop/b", "x-b", "2s", "2026-02-01T00:00:00Z");
    let [ours] = derived(&[younger, older]).try_into().unwrap();
    let timeouts: Vec<&Value> =
        ours["spec"]["rules"].as_array().unwrap().iter().map(|rule| &rule["timeouts"]["request"]).collect();
    assert_eq!(timeouts, ["2s", "2s", "1s", "1s"], "a request may match both");
}

#[test]
fn nothing_leads_to_the_service_without_a_rule_that_does() {
    assert_eq!(derived(&[route("shop/web", &json!([rule(&json!([{}]), "blog")]))]), Vec::<Value>::new());
}

#[test]
fn siblings_of_another_release_are_routes_of_others() {
    let to =
        |service: &str, path: &str| rule(&json!([{"path": {"type": "PathPrefix", "value": path}}]), service);
    let owner = route("shop/web", &json!([to("blog", "/"), to("shop", "/cart")]));
    let mut other = derived(std::slice::from_ref(&owner)).remove(0);
    other["metadata"]["name"] = json!("blog-canary-00");
    other["spec"]["rules"] = json!([rule(
        &json!([{"headers": [{"name": "x-canary-version", "value": "blog-secret"}]}]),
        "blog-v2"
    )]);
    let other = created(other, "2026-02-01T00:00:00Z");
    assert_eq!(derived(&[owner.clone(), other]), derived(&[owner]));
}
