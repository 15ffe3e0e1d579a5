//! Label selectors of Kubernetes: `matchLabels` and `matchExpressions`.
//!
//! # Source
//! [Labels and Selectors](https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements)

use serde_json::{Map, Value};

/// Whether a `LabelSelector` matches: `matchLabels` and `matchExpressions`. An empty one matches every object.
pub fn matches(selector: &Value, labels: &Map<String, Value>) -> bool {
    let by_labels = selector.get("matchLabels").and_then(Value::as_object);
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    by_labels.is_none_or(|wanted| contains(labels, wanted))
        && expressions.into_iter().flatten().all(|expression| holds(expression, labels))
}

/// Whether labels have all of the wanted ones.
pub fn contains(labels: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    wanted.iter().all(|(name, value)| labels.get(name) == Some(value))
}

fn holds(expression: &Value, labels: &Map<String, Value>) -> bool {
    let key = expression.get("key").and_then(Value::as_str).unwrap_or_default();
    let values = expression.get("values").and_then(Value::as_array);
    let found = labels.get(key);
    let is_listed = found.is_some_and(|found| values.is_some_and(|values| values.contains(found)));
    match expression.get("operator").and_then(Value::as_str) {
        Some("In") => is_listed,
        Some("NotIn") => !is_listed,
        Some("Exists") => found.is_some(),
        Some("DoesNotExist") => found.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_selector_matches_as_in_kubernetes() {
        let labels = json!({"app": "shop", "tier": "web"});
        let labels = labels.as_object().unwrap();
        for (selector, expected) in [
            (json!({}), true),
            (json!({"matchLabels": {"app": "shop"}}), true),
            (json!({"matchLabels": {"app": "other"}}), false),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["web", "api"]}]}),
                true,
            ),
            (json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}), false),
            (json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["web"]}]}), true),
            (json!({"matchExpressions": [{"key": "x", "operator": "Exists"}]}), false),
            (json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}), true),
        ] {
            assert_eq!(matches(&selector, labels), expected, "{selector}");
        }
    }
}
