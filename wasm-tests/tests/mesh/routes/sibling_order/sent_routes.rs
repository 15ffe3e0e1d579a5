//! The routes that istiod has sent to a gateway, matched as Envoy does: the first one of the virtual host.

use super::model::{Request, covers, is_match, specificity};
use browser::User;
use mesh_lab::Lab;
use serde_json::{Value, json};

/// The virtual hosts of a gateway.
pub(super) struct SentRoutes(Vec<Value>);

impl SentRoutes {
    /// As the pod of the gateway has them, from its Envoy's own administration port.
    pub(super) async fn read(lab: &Lab, namespace: &str, labels: &str) -> Option<Self> {
        let pod = lab.pods(namespace, labels).await.ok()?.pop()?;
        let dump = async || {
            let mut administrator = User::http1(([127, 0, 0, 1], 15000).into(), "localhost");
            administrator.api("/config_dump?resource=dynamic_route_configs").await
        };
        let dump = lab.in_pod(namespace, &pod, dump).ok()?.ok()?.json();
        let configs = dump.pointer("/configs")?.as_array()?;
        let hosts = configs.iter().filter_map(|one| one.pointer("/route_config/virtual_hosts")?.as_array());
        Some(Self(hosts.flatten().cloned().collect()))
    }

    /// How many of them match a header of this name.
    pub(super) fn with_header(&self, name: &str) -> usize {
        let routes = self.0.iter().flat_map(|host| list(&host["routes"]));
        routes.filter(|route| list(&route["match"]["headers"]).any(|header| header["name"] == name)).count()
    }

    /// The virtual host of a request.
    pub(super) fn of(&self, request: &Request) -> Option<&Value> {
        let domains = self.0.iter().flat_map(|host| list(&host["domains"]).map(move |domain| (domain, host)));
        let named = domains.filter_map(|(domain, host)| Some((domain.as_str()?, host)));
        let covering = named.filter(|(domain, _)| covers(domain, &request.host));
        covering.max_by_key(|(domain, _)| specificity(domain)).map(|(_, host)| host)
    }

    /// Services and timeout of the route that answers.
    pub(super) fn answer(&self, request: &Request) -> Option<(Vec<String>, String)> {
        let route = list(&self.of(request)?["routes"]).find(|route| matches(&route["match"], request))?;
        let action = &route["route"];
        let weighted = list(&action["weighted_clusters"]["clusters"])
            .filter(|one| one["weight"].as_u64() != Some(0))
            .map(|one| &one["name"]);
        let clusters = weighted.chain([&action["cluster"]]).filter_map(Value::as_str);
        // `outbound|80||shop.order-shop.svc.cluster.local`
        let service = |cluster: &str| {
            cluster.rsplit('|').next().unwrap_or_default().split('.').next().unwrap_or_default().to_owned()
        };
        let mut services: Vec<String> = clusters.map(service).collect();
        services.sort();
        Some((services, action["timeout"].as_str().unwrap_or("0s").to_owned()))
    }
}

/// Services and timeout of a rule.
pub(super) fn signature(rule: &Value) -> (Vec<String>, String) {
    let backends = list(&rule["backendRefs"]).filter(|one| one["weight"] != json!(0));
    let mut services: Vec<String> =
        backends.map(|one| one["name"].as_str().unwrap_or_default().to_owned()).collect();
    services.sort();
    (services, rule["timeouts"]["request"].as_str().unwrap_or("0s").to_owned())
}

fn matches(one: &Value, request: &Request) -> bool {
    let text = |field: &str| one[field].as_str();
    let regex = one["safe_regex"]["regex"].as_str();
    let path = request.path.as_str();
    let path_matches = text("path")
        .map(|wanted| path == wanted)
        .or_else(|| {
            text("path_separated_prefix").map(|prefix| {
                path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        })
        .or_else(|| text("prefix").map(|prefix| path.starts_with(prefix)))
        .or_else(|| regex.map(|regex| is_match(regex, path)));
    let pseudo = (":method".to_owned(), request.method.to_owned());
    let headers: Vec<(String, String)> = request.headers.iter().cloned().chain([pseudo]).collect();
    path_matches == Some(true)
        && list(&one["headers"]).all(|wanted| has(wanted, &headers))
        && list(&one["query_parameters"]).all(|wanted| has(wanted, &request.query))
}

fn has(wanted: &Value, given: &[(String, String)]) -> bool {
    let value = given.iter().find(|(name, _)| wanted["name"] == name.as_str()).map(|(_, value)| value);
    let text = &wanted["string_match"];
    value.is_some_and(|value| match (text["exact"].as_str(), text["safe_regex"]["regex"].as_str()) {
        (Some(exact), _) => value == exact,
        (None, Some(regex)) => is_match(regex, value),
        (None, None) => false,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
