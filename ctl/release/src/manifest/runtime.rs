//! The `EnvoyFilter` that creates V8 in every proxy before its workers start, so that no Wasm filter is a proxy's
//! first.
//!
//! # Source
//! [Thread inheritance of memory protection keys](https://issues.chromium.org/issues/360909072): V8 allocates its key with its
//! first VM, and a thread that was created before has no right to it.

use super::proxy_group::{ProxyGroup, groups, object_name};
use super::{ReleaseInstance, SharedMetadata};
use crate::manifest::Error;
use crate::object::{Manifest, NamespacedName, Stage};
use crate::spec::Selector;
use assignment::contract::Position;
use placed_yaml::Template;

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/wasm-runtime.yaml");

/// The pod label by which proxies are selected that have started after their [`Runtime`] was written.
pub const RUNTIME_LABEL: &str = "canary-ctl.io/wasm-runtime";

/// The object that creates V8 in the proxies of some pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The pods.
    pub pods: Selector,
    /// Gateways, or pods that call from within the mesh.
    pub position: Position,
    /// The object of their configuration, which all releases of these pods share.
    pub config: NamespacedName,
    /// The labels and annotations of these releases.
    pub metadata: SharedMetadata,
}

/// The runtimes of a release's proxies, those of gateways first.
///
/// # Errors
///
/// Where a release disagrees with itself about pods that it names twice.
pub fn runtimes(member: &ReleaseInstance<'_>) -> Result<Vec<Runtime>, Error> {
    Ok(groups(std::slice::from_ref(member))?.iter().map(Runtime::of).collect())
}

impl Runtime {
    pub(super) fn of(group: &ProxyGroup<'_>) -> Self {
        Self {
            pods: group.pods.clone(),
            position: group.position,
            config: group.place(),
            metadata: group.metadata.clone(),
        }
    }

    /// Namespace and name of the object.
    pub fn place(&self) -> NamespacedName {
        self.place_of("runtime")
    }

    /// Namespace and name of the object that inserts the filter into the same proxies.
    pub fn filter(&self) -> NamespacedName {
        self.place_of("filter")
    }

    fn place_of(&self, what: &str) -> NamespacedName {
        (self.pods.namespace.to_string(), object_name(self.pods.labels.values(), what))
    }

    /// The object: for all of the pods, or for those that have [`RUNTIME_LABEL`] with this value.
    ///
    /// # Errors
    ///
    /// Where the template has not the shape that this code expects.
    pub fn manifest(&self, label: Option<&str>) -> Result<Manifest, Error> {
        let mut template = Template::new(TEMPLATE)?;
        let context = match self.position {
            Position::Edge => "GATEWAY",
            Position::Mesh => "SIDECAR_OUTBOUND",
        };
        let (namespace, name) = self.place();
        template
            .set("metadata/name", name)?
            .set("metadata/namespace", namespace)?
            .set("spec/configPatches/0/match/context", context)?
            .set("spec/configPatches/1/match/context", context)?;
        let mut labels = self.pods.labels.clone();
        labels.extend(label.map(|value| (RUNTIME_LABEL.to_owned(), value.to_owned())));
        if labels.is_empty() {
            template.remove("spec/workloadSelector")?;
        } else {
            template.set("spec/workloadSelector/labels", labels)?;
        }
        Ok(Manifest { stage: Stage::Runtime, text: self.metadata.written(template.finish()?)? })
    }
}
