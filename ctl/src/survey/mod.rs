//! What a cluster says about an application that is to have a canary: pure, from the objects that are there.
//!
//! ```text
//! objects     Service, its pods, VirtualServices, DestinationRules    -> Survey
//! versions    which version is stable, which the canary               -> two names, or which there are
//! ```

mod error;
mod istio;
mod versions;

pub use error::Error;
pub use istio::Gateway;

use serde_json::Value;
use std::collections::BTreeMap;

/// What is there.
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
    /// The `VirtualServices` of its namespace.
    pub virtual_services: Vec<Value>,
    /// The `DestinationRules` of its namespace.
    pub destination_rules: Vec<Value>,
}

/// What a release can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The Service's port for HTTP.
    pub port: u16,
    /// The label that tells versions apart.
    pub label: String,
    /// The versions, with how many pods each has.
    pub versions: BTreeMap<String, usize>,
    /// The hosts that users type, as the `VirtualServices` that lead to the Service name them.
    pub hosts: Vec<String>,
    /// The gateways of those `VirtualServices`, as `<namespace>/<name>`.
    pub gateways: Vec<String>,
    /// Those `VirtualServices`.
    pub virtual_services: Vec<String>,
    /// The session cookie by which a `DestinationRule` keeps users on their pods.
    pub session_cookie: Option<String>,
}

/// Labels by which versions are told apart, the usual one first.
const VERSION_LABELS: [&str; 2] = ["version", "app.kubernetes.io/version"];

impl Survey {
    /// Looks at the objects.
    ///
    /// Fails where the Service selects no pods or one version alone, where it has no port for HTTP, and where its pods have
    /// no label for the version. No `VirtualService` is no failure: what it would have said is missing.
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
            virtual_services: routes.names,
            session_cookie: istio::session_cookie(objects),
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

/// The only port, or the first that says it speaks HTTP by its name or protocol.
///
/// # Source
/// Istio, *Protocol Selection*: the port's name is `<protocol>[-<suffix>]`, or `appProtocol` says it.
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
            virtual_services: Vec::new(),
            destination_rules: Vec::new(),
        }
    }

    #[test]
    fn port_label_and_versions_are_the_services_and_its_pods() {
        let survey = Survey::of(&shop()).unwrap();
        assert_eq!((survey.port, survey.label.as_str()), (8080, "version"));
        assert_eq!(survey.versions, BTreeMap::from([("v1".to_owned(), 2), ("v2".to_owned(), 1)]));
        assert_eq!((survey.hosts, survey.session_cookie), (Vec::<String>::new(), None));
    }

    #[test]
    fn a_service_that_cannot_have_a_canary_says_why() {
        let with = |path: &str, value: Value| {
            let mut objects = shop();
            *objects.service.pointer_mut(path).unwrap() = value;
            objects
        };
        let said = |objects: &Objects| Survey::of(objects).unwrap_err().to_string();
        assert!(said(&with("/spec/selector", json!(null))).contains("selects no pods"));
        assert!(said(&with("/spec/ports", json!([]))).contains("no port for HTTP"));
        let one = with("/spec/selector", json!({"app": "shop", "version": "v1"}));
        assert!(said(&one).contains("selects `version: v1` alone"));
        assert!(said(&Objects { pods: Vec::new(), ..shop() }).contains("has no pods"));
        let plain = json!({"metadata": {"labels": {"app": "shop"}}});
        assert!(said(&Objects { pods: vec![plain], ..shop() }).contains("no label `version`"));
    }
}
