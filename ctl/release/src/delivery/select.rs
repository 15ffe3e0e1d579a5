//! Which pods an object of Istio is for.

use crate::spec::Selector;
use crate::yaml::{EditError, Template};

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
