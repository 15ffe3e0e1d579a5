//! What an object is for, and its text.

/// Namespace and name of an object that holds a configuration.
pub type NamespacedName = (String, String);

/// The purpose of an object, in the order in which proxies that have the filter may receive objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The pods of each version, by name.
    Subsets,
    /// The routes to each version.
    Routes,
    /// The same within an object of another owner.
    Edits,
    /// The filter's configuration: the only object that a weight changes.
    Configuration,
    /// V8 in the proxies, before their workers start.
    Runtime,
    /// The filter's place in the proxies.
    Filter,
    /// The modules that a module rollout replaces, until every proxy runs the new one.
    ModuleBackup,
}

impl Stage {
    /// Whether it leads to a version.
    pub fn is_route(self) -> bool {
        matches!(self, Self::Routes | Self::Edits)
    }
}

/// One object as text, its comments included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its purpose.
    pub stage: Stage,
    /// A YAML document. One of comments alone is for a person, and no object.
    pub text: String,
}
