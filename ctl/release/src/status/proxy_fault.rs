//! Why a proxy does not report what it runs.

use crate::data_plane::DataPlane;
use serde::{Serialize, Serializer};
use std::fmt;

/// The reason why a proxy does not report its generation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxyFault {
    /// The pod is ambient and has no proxy.
    Ambient,
    /// The pod is a waypoint.
    Waypoint,
    /// Its metrics could not be read, and why.
    Unread(String),
}

impl ProxyFault {
    /// That of a pod to which no `EnvoyFilter` applies; `None` for another.
    pub const fn of(data_plane: DataPlane) -> Option<Self> {
        match data_plane {
            DataPlane::Ztunnel => Some(Self::Ambient),
            DataPlane::Waypoint => Some(Self::Waypoint),
            DataPlane::Envoy | DataPlane::Unmeshed => None,
        }
    }
}

impl fmt::Display for ProxyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ambient => {
                "is ambient and has no sidecar: EnvoyFilters do not apply to ztunnel, so nothing decides what it sends"
            }
            Self::Waypoint => "is a waypoint: EnvoyFilters do not apply to it, so it decides nothing",
            Self::Unread(why) => why,
        })
    }
}

impl Serialize for ProxyFault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
