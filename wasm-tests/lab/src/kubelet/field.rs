//! The downward API: what a pod may know of itself.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;

use super::super::space::NODE;
use super::node::NODE_NAME;

/// The value of a field path like `metadata.labels['app']`; `None` for one that the downward API does not know.
pub(super) fn value(pod: &Pod, address: Ipv4Addr, path: &str) -> Option<String> {
    let spec = pod.spec.as_ref();
    Some(match path {
        "metadata.name" => pod.name_any(),
        "metadata.namespace" => pod.namespace().unwrap_or_default(),
        "metadata.uid" => pod.uid().unwrap_or_default(),
        "metadata.labels" => lines(pod.labels()),
        "metadata.annotations" => lines(pod.annotations()),
        "spec.nodeName" => NODE_NAME.to_owned(),
        "spec.serviceAccountName" => {
            spec.and_then(|spec| spec.service_account_name.clone()).unwrap_or_default()
        }
        "status.podIP" | "status.podIPs" => address.to_string(),
        "status.hostIP" | "status.hostIPs" => NODE.to_string(),
        _ => match path.strip_suffix("']")?.split_once("['")? {
            ("metadata.labels", key) => pod.labels().get(key).cloned().unwrap_or_default(),
            ("metadata.annotations", key) => pod.annotations().get(key).cloned().unwrap_or_default(),
            _ => return None,
        },
    })
}

fn lines(entries: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value:?}\n")).collect();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_knows_its_address_its_labels_and_each_of_them() {
        let mut pod = Pod::default();
        pod.labels_mut().insert("app".to_owned(), "shop".to_owned());
        let value = |path| value(&pod, Ipv4Addr::new(10, 244, 0, 7), path);
        assert_eq!(value("status.podIP").as_deref(), Some("10.244.0.7"));
        assert_eq!(value("metadata.labels").as_deref(), Some("app=\"shop\"\n"));
        assert_eq!(value("metadata.labels['app']").as_deref(), Some("shop"));
        assert_eq!(value("metadata.labels['none']").as_deref(), Some(""));
        assert_eq!(value("spec.containers"), None);
    }
}
