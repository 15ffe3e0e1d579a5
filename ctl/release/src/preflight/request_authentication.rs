//! Whether a `RequestAuthentication` verifies the tokens of requests at some proxies: without one no claim is a user key.
//!
//! # Source
//! Istio, [RequestAuthentication](https://istio.io/latest/docs/reference/config/security/request_authentication/): one of the root
//! namespace is for the whole mesh; `selector` and `targetRefs` narrow it.

use crate::destination_rule::ROOT_NAMESPACE;
use crate::record::Proxies;
use serde_json::Value;

/// Whether one of these objects may apply to the proxies. A selector contradicts these where it has another value for one of their labels.
pub fn verifies_tokens(objects: &[Value], proxies: &Proxies) -> bool {
    objects.iter().any(|object| {
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
        let rules = object.pointer("/spec/jwtRules").and_then(Value::as_array);
        let selector = object.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
        let contradicts = |(name, value): (&String, &Value)| {
            proxies.labels.get(name).is_some_and(|own| Some(own.as_str()) != value.as_str())
        };
        (namespace == proxies.namespace || namespace == ROOT_NAMESPACE)
            && rules.is_some_and(|rules| !rules.is_empty())
            && !selector.into_iter().flatten().any(contradicts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_verified_where_an_object_with_rules_may_apply_to_the_proxies() {
        let labels = [("istio".to_owned(), "gateway".to_owned())].into();
        let proxies = Proxies { namespace: "ingress".to_owned(), labels };
        let rules = || json!([{"issuer": "https://id.example.com"}]);
        let selects =
            |value: &str| json!({"jwtRules": rules(), "selector": {"matchLabels": {"istio": value}}});
        for (what, namespace, spec, expected) in [
            ("of the namespace", "ingress", json!({"jwtRules": rules()}), true),
            ("of the mesh", ROOT_NAMESPACE, json!({"jwtRules": rules()}), true),
            ("of these pods", "ingress", selects("gateway"), true),
            (
                "of pods by another label",
                "ingress",
                json!({"jwtRules": rules(), "selector": {"matchLabels": {"app": "x"}}}),
                true,
            ),
            ("of other pods", "ingress", selects("other"), false),
            ("of another namespace", "shop", json!({"jwtRules": rules()}), false),
            ("without rules", "ingress", json!({}), false),
        ] {
            let object = json!({"metadata": {"namespace": namespace}, "spec": spec});
            assert_eq!(verifies_tokens(&[object], &proxies), expected, "{what}");
        }
        assert!(!verifies_tokens(&[], &proxies), "none");
    }
}
