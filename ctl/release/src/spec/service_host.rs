//! The host of a Service, and which names in Istio's objects resolve to it.

use super::Label;

/// The domain of a cluster's Services.
const CLUSTER_DOMAIN: &str = "cluster.local";

/// A Service, by name and namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHost {
    name: String,
    namespace: String,
}

impl ServiceHost {
    /// The Service of this name.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: namespace.into() }
    }

    /// Its fully qualified name, `shop.shop.svc.cluster.local`.
    pub fn fqdn(&self) -> String {
        resolve(&self.name, &self.namespace)
    }

    /// Whether a host in an object of `from_namespace` resolves to this Service.
    ///
    /// Istio completes names without a dot by the namespace of the object, and no others: `shop.shop.svc` resolves to itself,
    /// which is no Service.
    pub fn matches(&self, host: &str, from_namespace: &str) -> bool {
        resolve(host, from_namespace) == self.fqdn()
    }

    /// The names by which callers in `from_namespace` can address it: DNS completes shorter ones too.
    pub fn aliases(&self, from_namespace: &str) -> Vec<String> {
        let Self { name, namespace } = self;
        let short = (namespace == from_namespace).then(|| name.clone());
        let long = [format!("{name}.{namespace}"), format!("{name}.{namespace}.svc"), self.fqdn()];
        short.into_iter().chain(long).collect()
    }
}

impl From<(&Label, &Label)> for ServiceHost {
    fn from((name, namespace): (&Label, &Label)) -> Self {
        Self::new(name.as_str(), namespace.as_str())
    }
}

/// The host that a name in an Istio object of this namespace stands for.
///
/// # Source
/// Istio, *Virtual Service*, `Destination.host`; `ResolveShortnameToFQDN` in istiod.
pub fn resolve(host: &str, namespace: &str) -> String {
    if host.contains('.') || host == "*" || host.is_empty() {
        return host.to_owned();
    }
    format!("{host}.{namespace}.svc.{CLUSTER_DOMAIN}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_dot_is_completed_by_the_namespace_of_its_object_and_no_other_is() {
        let shop = ServiceHost::new("shop", "shop");
        for (host, from_namespace, is_match) in [
            ("shop", "shop", true),
            ("shop", "other", false),
            ("shop.shop.svc.cluster.local", "other", true),
            ("shop.other.svc.cluster.local", "shop", false),
            ("shop.shop.svc", "shop", false),
            ("shop.shop", "shop", false),
            ("shop-admin", "shop", false),
            ("*", "shop", false),
            ("", "shop", false),
        ] {
            assert_eq!(shop.matches(host, from_namespace), is_match, "`{host}` in `{from_namespace}`");
        }
    }

    #[test]
    fn callers_of_the_same_namespace_alone_can_use_the_short_name() {
        let shop = ServiceHost::new("shop", "ns");
        let long = ["shop.ns", "shop.ns.svc", "shop.ns.svc.cluster.local"];
        assert_eq!(shop.aliases("other"), long);
        assert_eq!(shop.aliases("ns").first().map(String::as_str), Some("shop"));
    }
}
