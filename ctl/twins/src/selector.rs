//! Label selectors, and the pods that they match.

use crate::Object;
use canary_release::label_selector::contains;
pub(crate) use canary_release::label_selector::matches;
use serde_json::{Map, Value};

/// The labels of the pods that a workload makes.
pub(crate) fn pod_labels(workload: &Object) -> Option<&Map<String, Value>> {
    workload.value().pointer("/spec/template/metadata/labels")?.as_object()
}

/// Whether a selector of `labels` alone matches, as that of a Service does. An empty one matches nothing here: a Service
/// without a selector has its endpoints from elsewhere.
pub(crate) fn matches_labels(selector: Option<&Value>, labels: &Map<String, Value>) -> bool {
    let selector = selector.and_then(Value::as_object);
    selector.is_some_and(|selector| !selector.is_empty() && contains(labels, selector))
}

/// Whether a workload's own selector matches these pods.
pub(crate) fn workload_matches(workload: &Object, labels: &Map<String, Value>) -> bool {
    workload.value().pointer("/spec/selector").is_some_and(|selector| matches(selector, labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_service_without_a_selector_matches_nothing() {
        let labels = json!({"app": "shop", "tier": "web"});
        let labels = labels.as_object().unwrap();
        assert!(!matches_labels(Some(&json!({})), labels), "a Service without a selector");
        assert!(!matches_labels(Some(&json!({"app": "other"})), labels));
        assert!(matches_labels(Some(&json!({"app": "shop"})), labels));
    }
}
