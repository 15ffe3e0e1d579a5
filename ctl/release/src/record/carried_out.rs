//! The mark of a release that a controller carries out.

use super::Record;

/// The annotation of every object of a release that a controller carries out. It is part of the sealed record.
pub const CARRIED_OUT_BY: &str = "canary-ctl.io/carried-out-by";
/// Its value: the same for all releases, because objects that they share have the annotations of each.
pub const CONTROLLER: &str = "controller";

impl Record {
    /// Whether a controller carries out the release.
    pub fn is_carried_out(&self) -> bool {
        self.metadata.annotations.get(CARRIED_OUT_BY).is_some_and(|value| value == CONTROLLER)
    }
}
