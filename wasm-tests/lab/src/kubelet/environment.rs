//! The variables of a container, in Kubernetes' order: those of the API server's address, `envFrom`, `env`; later ones win.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVarSource, Pod, Secret};
use kube::api::Api;
use kube::{Client, ResourceExt as _};

use super::super::error::LabError;
use super::{field, node};

/// Where images have their programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The memory of a container without a limit, in bytes: the node's.
const MEMORY: u64 = 8 << 30;

/// Names and values.
pub(super) type Environment = BTreeMap<String, String>;

/// What a container of this pod at this address finds in its environment.
pub(super) async fn of(
    client: &Client,
    pod: &Pod,
    container: &Container,
    address: Ipv4Addr,
) -> Result<Environment, LabError> {
    let namespace = pod.namespace().unwrap_or_default();
    let source = Source { client, pod, address, namespace: &namespace };
    let mut all = Environment::from([
        ("PATH".to_owned(), PATH.to_owned()),
        ("HOME".to_owned(), "/".to_owned()),
        ("HOSTNAME".to_owned(), pod.name_any()),
        ("KUBERNETES_SERVICE_HOST".to_owned(), "10.96.0.1".to_owned()),
        ("KUBERNETES_SERVICE_PORT".to_owned(), "443".to_owned()),
    ]);
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.clone().unwrap_or_default();
        let mut entries = Environment::new();
        if let Some(map) = &from.config_map_ref {
            entries.extend(source.config_map(&map.name, map.optional).await?);
        }
        if let Some(secret) = &from.secret_ref {
            entries.extend(source.secret(&secret.name, secret.optional).await?);
        }
        all.extend(entries.into_iter().map(|(key, value)| (format!("{prefix}{key}"), value)));
    }
    for variable in container.env.iter().flatten() {
        let value = match &variable.value_from {
            Some(from) => source.value(from).await?,
            None => variable.value.as_deref().map(|text| expand(text, &all)),
        };
        all.extend(value.map(|value| (variable.name.clone(), value)));
    }
    Ok(all)
}

/// Replaces `$(NAME)` by its value, where there is one; `$$` stands for one `$`.
pub(super) fn expand(text: &str, known: &Environment) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let reference = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        rest = match (reference, after.strip_prefix('$')) {
            (Some((name, behind)), _) if known.contains_key(name) => {
                out.push_str(known.get(name).map_or("", String::as_str));
                behind
            }
            (_, Some(behind)) => {
                out.push('$');
                behind
            }
            _ => {
                out.push('$');
                after
            }
        };
    }
    out + rest
}

struct Source<'a> {
    client: &'a Client,
    pod: &'a Pod,
    address: Ipv4Addr,
    namespace: &'a str,
}

impl Source<'_> {
    /// The value from its source; `None` for an optional one that does not exist.
    async fn value(&self, from: &EnvVarSource) -> Result<Option<String>, LabError> {
        if let Some(reference) = &from.field_ref {
            return Ok(field::value(self.pod, self.address, &reference.field_path));
        }
        if let Some(reference) = &from.resource_field_ref {
            let memory = reference.resource.ends_with("memory");
            return Ok(Some(if memory { MEMORY.to_string() } else { node::cores().to_string() }));
        }
        if let Some(key) = &from.config_map_key_ref {
            return Ok(self.config_map(&key.name, key.optional).await?.remove(&key.key));
        }
        if let Some(key) = &from.secret_key_ref {
            return Ok(self.secret(&key.name, key.optional).await?.remove(&key.key));
        }
        Ok(None)
    }

    async fn config_map(&self, name: &str, optional: Option<bool>) -> Result<Environment, LabError> {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), self.namespace);
        let map = if optional == Some(true) { api.get_opt(name).await? } else { Some(api.get(name).await?) };
        Ok(map.and_then(|map| map.data).unwrap_or_default())
    }

    async fn secret(&self, name: &str, optional: Option<bool>) -> Result<Environment, LabError> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), self.namespace);
        let secret =
            if optional == Some(true) { api.get_opt(name).await? } else { Some(api.get(name).await?) };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        Ok(data.into_iter().map(|(key, value)| (key, text(value.0))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_known_are_replaced() {
        let known = Environment::from([("POD".to_owned(), "shop-1".to_owned())]);
        assert_eq!(
            expand("--pod=$(POD).$(NONE) costs $5, $$(POD)", &known),
            "--pod=shop-1.$(NONE) costs $5, $(POD)"
        );
    }
}
