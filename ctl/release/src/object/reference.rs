//! A Kubernetes object of any kind, and what it is called.

use super::{Manifest, NamespacedName, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The error of a text or a value that is no object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// A name is missing.
    #[error("expected a Kubernetes object, found one without `{field}`")]
    NoObject {
        /// The missing field, as a JSON pointer.
        field: &'static str,
    },
    /// The text is no YAML.
    #[error("expected a manifest as YAML: {0}")]
    NoYaml(String),
}

/// The name of an object: enough to read it, write it and delete it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// `networking.istio.io/v1`.
    pub api_version: String,
    /// `DestinationRule`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// An object and what it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its reference.
    pub reference: Reference,
    /// Its purpose.
    pub stage: Stage,
    /// All of it, as JSON.
    pub body: Value,
}

impl Reference {
    /// An object of these names.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let [api_version, kind, namespace, name] = [api_version, kind, namespace, name].map(str::to_owned);
        Self { api_version, kind, namespace, name }
    }

    /// Namespace and name.
    pub fn place(&self) -> NamespacedName {
        (self.namespace.clone(), self.name.clone())
    }

    /// The reference of an object.
    ///
    /// # Errors
    ///
    /// If it has no kind, no name or no namespace.
    pub fn of(body: &Value) -> Result<Self, ObjectError> {
        let text = |path: &'static str| {
            let found = body.pointer(path).and_then(Value::as_str);
            found.map(str::to_owned).ok_or(ObjectError::NoObject { field: path })
        };
        Ok(Self {
            api_version: text("/apiVersion")?,
            kind: text("/kind")?,
            namespace: text("/metadata/namespace")?,
            name: text("/metadata/name")?,
        })
    }
}

impl fmt::Display for Reference {
    /// `EnvoyFilter istio-ingress/canary-ingressgateway-config`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl Object {
    /// The object of a manifest; `None` for one of comments alone.
    ///
    /// # Errors
    ///
    /// If the text is no YAML, or an object without kind, name or namespace.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, ObjectError> {
        let body: Option<Value> =
            serde_saphyr::from_str(&manifest.text).map_err(|error| ObjectError::NoYaml(error.to_string()))?;
        let Some(body) = body.filter(|body| !body.is_null()) else { return Ok(None) };
        Ok(Some(Self { reference: Reference::of(&body)?, stage: manifest.stage, body }))
    }
}
