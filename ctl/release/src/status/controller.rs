//! What a controller says of a release that it carries out.

use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The annotation of every object of a release that a controller carries out. It is part of the sealed record.
pub const CARRIED_OUT_BY: &str = "canary-ctl.io/carried-out-by";
/// Its value: the same for all releases, because objects that they share have the annotations of each.
pub const CONTROLLER: &str = "controller";

/// The status of the object of a release, as far as people need it beside the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerStatus {
    /// The replica that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The phase; none where the object is gone, cannot be read, or was not seen by a controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The condition for which the release waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
}

impl Record {
    /// Whether a controller carries out the release.
    pub fn is_carried_out(&self) -> bool {
        self.metadata.annotations.get(CARRIED_OUT_BY).is_some_and(|value| value == CONTROLLER)
    }
}

impl fmt::Display for ControllerStatus {
    /// `the controller (canary-controller-0) carries it out: Gated, the step waits for an approval`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the controller")?;
        self.driver.as_ref().map_or(Ok(()), |driver| write!(f, " ({driver})"))?;
        f.write_str(" carries it out")?;
        match &self.phase {
            Some(phase) => write!(f, ": {phase}")?,
            None => f.write_str(", and its object has no status that can be read")?,
        }
        self.waiting_for.as_ref().map_or(Ok(()), |waiting| write!(f, ", {waiting}"))
    }
}
