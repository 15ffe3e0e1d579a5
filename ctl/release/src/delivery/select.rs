//! Which pods an object of Istio is for.

use crate::spec::Selector;
use placed_yaml::{EditError, Template};
use serde_json::Value;
use std::collections::BTreeMap;

/// Writes the labels of the pods to a selector of a template. An object without a selector is for all pods of its namespace.
pub(crate) fn select_pods(
    template: &mut Template,
    selector: &str,
    labels: &str,
    pods: &Selector,
) -> Result<(), EditError> {
    if pods.labels.is_empty() {
        template.remove(selector)?;
    } else {
        template.set(&format!("{selector}/{labels}"), &pods.labels)?;
    }
    Ok(())
}

/// The labels of the pods that an object is for; none for all pods of its namespace.
pub(crate) fn selected_pods(object: &Value) -> BTreeMap<String, String> {
    let labels = ["/spec/workloadSelector/labels", "/spec/selector/matchLabels"];
    let labels = labels.iter().find_map(|path| object.pointer(path)?.as_object());
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}
