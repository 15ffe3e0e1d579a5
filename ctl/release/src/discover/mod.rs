//! The values of a first `canary.yaml`, derived from an application's objects on a cluster. Pure.
//!
//! ```text
//! objects     Service, its pods, route objects, DestinationRules      -> Survey
//! versions    which version is stable, which the canary               -> two names, or which there are
//! ```

mod error;
mod istio;
mod versions;

pub use error::Error;
pub use istio::ExistingGateway;

use serde_json::Value;
use std::collections::BTreeMap;

/// The objects of the application.
#[derive(Clone, Debug)]
pub struct Objects {
    /// The namespace of the Service.
    pub namespace: String,
    /// The Service's name.
    pub name: String,
    /// The Service.
    pub service: Value,
    /// The pods that it selects.
    pub pods: Vec<Value>,
    /// The route objects of its namespace.
    pub route_objects: Vec<Value>,
    /// The `DestinationRules` of its namespace.
    pub destination_rules: Vec<Value>,
}

/// The objects from which a release can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The Service's port for HTTP.
    pub port: u16,
    /// The version label: its value differs between versions.
    pub label: String,
    /// The versions, with how many pods each has.
    pub versions: BTreeMap<String, usize>,
    /// The hosts that users type, as the route objects that lead to the Service name them.
    pub hosts: Vec<String>,
    /// The gateways of those route objects, as `<namespace>/<name>`.
    pub gateways: Vec<String>,
    /// The names of those route objects.
    pub route_objects: Vec<String>,
    /// The cookie by which a `DestinationRule` keeps users on their pods.
    pub affinity_cookie: Option<AffinityCookie>,
}

/// A cookie on which a `DestinationRule` hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AffinityCookie {
    /// The application sets it: its session.
    Application(String),
    /// Envoy sets it where a request has none: no session.
    Envoy(String),
}

/// Labels that can distinguish versions, the usual one first.
const VERSION_LABELS: [&str; 2] = ["version", "app.kubernetes.io/version"];

impl Survey {
    /// Derives the survey from the objects. No route object is no error: what it would have contained is missing.
    ///
    /// # Errors
    ///
    /// If the Service selects no pods or only one version, if it has no port for HTTP, or if its pods have no version
    /// label.
    pub fn of(objects: &Objects) -> Result<Self, Error> {
        let label = label(objects)?;
        let mut versions = BTreeMap::new();
        for pod in &objects.pods {
            if let Some(version) = label_of(pod, label) {
                *versions.entry(version.to_owned()).or_default() += 1;
            }
        }
        let routes = istio::routes_to(objects);
        Ok(Self {
            port: port(objects)?,
            label: label.to_owned(),
            versions,
            hosts: routes.hosts,
            gateways: routes.gateways,
            route_objects: routes.names,
            affinity_cookie: istio::affinity_cookie(objects),
        })
    }
}

/// The label that all pods have and that the Service does not select by.
fn label(objects: &Objects) -> Result<&'static str, Error> {
    let service = || format!("{}/{}", objects.namespace, objects.name);
    let selector = objects.service.pointer("/spec/selector").and_then(Value::as_object);
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else {
        return Err(Error::NoSelector { service: service() });
    };
    if objects.pods.is_empty() {
        return Err(Error::NoPods { service: service() });
    }
    let on_all = |label: &&&str| objects.pods.iter().all(|pod| label_of(pod, label).is_some());
    let Some(label) = VERSION_LABELS.iter().find(on_all) else {
        return Err(Error::NoVersions { service: service(), known: VERSION_LABELS.join("` or `") });
    };
    match selector.get(*label).and_then(Value::as_str) {
        Some(version) => Err(Error::OneVersion {
            service: service(),
            label: (*label).to_owned(),
            version: version.to_owned(),
        }),
        None => Ok(label),
    }
}

fn label_of<'p>(pod: &'p Value, label: &str) -> Option<&'p str> {
    pod.pointer("/metadata/labels")?.get(label)?.as_str()
}

/// The only port, or the first one with HTTP as its name or protocol.
///
/// # Source
/// Istio, *Protocol Selection*: the port's name is `<protocol>[-<suffix>]`, or `appProtocol` names it.
fn port(objects: &Objects) -> Result<u16, Error> {
    let ports =
        objects.service.pointer("/spec/ports").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let speaks_http = |port: &&Value| {
        let says = |field: &str| port.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        [says("appProtocol"), says("name")]
            .iter()
            .any(|text| text.starts_with("http") || text.starts_with("grpc"))
    };
    let found = match ports {
        [port] => Some(port),
        _ => ports.iter().find(speaks_http),
    };
    let number = found.and_then(|port| port.get("port")?.as_u64()).and_then(|port| u16::try_from(port).ok());
    number.ok_or_else(|| Error::NoPort { service: format!("{}/{}", objects.namespace, objects.name) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shop() -> Objects {
        let pod = |version: &str| json!({"metadata": {"labels": {"app": "shop", "version": version}}});
        Objects {
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            service: json!({"spec": {"selector": {"app": "shop"}, "ports": [
                {"name": "metrics", "port": 9090},
                {"name": "http-web", "port": 8080},
            ]}}),
            pods: vec![pod("v1"), pod("v1"), pod("v2")],
            route_objects: Vec::new(),
            destination_rules: Vec::new(),
        }
    }

    #[test]
    fn port_label_and_versions_are_the_services_and_its_pods() {
        let survey = Survey::of(&shop()).unwrap();
        assert_eq!((survey.port, survey.label.as_str()), (8080, "version"));
        assert_eq!(survey.versions, BTreeMap::from([("v1".to_owned(), 2), ("v2".to_owned(), 1)]));
        assert_eq!((survey.hosts, survey.affinity_cookie), (Vec::<String>::new(), None));
    }

    #[test]
    fn a_service_that_cannot_have_a_canary_says_why() {
        let with = |path: &str, value: Value| {
            let mut objects = shop();
            *objects.service.pointer_mut(path).unwrap() = value;
            objects
        };
        let one = with("/spec/selector", json!({"app": "shop", "version": "v1"}));
        let plain = json!({"metadata": {"labels": {"app": "shop"}}});
        for (objects, reason) in [
            (with("/spec/selector", json!(null)), "selects no pods"),
            (with("/spec/ports", json!([])), "no port for HTTP"),
            (one, "selects `version: v1` alone"),
            (Objects { pods: Vec::new(), ..shop() }, "has no pods"),
            (Objects { pods: vec![plain], ..shop() }, "no label `version`"),
        ] {
            let error = Survey::of(&objects).unwrap_err().to_string();
            assert!(error.contains(reason), "expected `{reason}`, found `{error}`");
        }
    }
}
