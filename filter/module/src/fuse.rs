//! The fuses, which the workers of this proxy share, each under the name of its gauge.

use crate::abi::{self, Level};
use crate::metrics;
use assignment::policy::Release;
use canary_filter::fuse::{Fuse, ResponseCounts};
use canary_filter::labels;

/// How often a state that another worker has replaced meanwhile is read anew. Counts that are then not added are lost; the next
/// second has others.
const ATTEMPTS: usize = 4;

/// Adds what this worker has counted since it did so last, and returns the second at which the fuse closes.
pub(crate) fn add(release: &Release, counts: &ResponseCounts, now_seconds: u64) -> u64 {
    let Some(canary) = release.canary(|| now_seconds).and_then(|canary| release.versions.get(canary)) else {
        return 0;
    };
    let key = labels::fuse(release, canary);
    // Without any this only reads: what it would change is not shared.
    let has_counts = *counts != ResponseCounts::default();
    let mut open_until = 0;
    for _ in 0..ATTEMPTS {
        let (shared, cas) = abi::shared_data(&key);
        let mut fuse = Fuse::from_bytes(shared.as_deref().unwrap_or_default());
        // What holds where the counts cannot be added: an open fuse does not look closed.
        open_until = fuse.open_until_seconds;
        let opened = has_counts && fuse.add(counts, now_seconds);
        if has_counts && !abi::set_shared_data(&key, &fuse.to_bytes(), cas) {
            continue;
        }
        if opened {
            abi::log(Level::Warn, &format!("canary: the fuse of {} is open", canary.routing_value));
        }
        if fuse.open_until_seconds > 0 {
            metrics::record(&key, fuse.open_until_seconds);
        }
        return fuse.open_until_seconds;
    }
    open_until
}
