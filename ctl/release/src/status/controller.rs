//! The status that a controller has written for a release.

use serde::{Deserialize, Serialize};
use std::fmt;

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
