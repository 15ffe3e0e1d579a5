//! The fuses, which the workers of this proxy share, each under a key that begins with the name of its gauge.

use crate::abi::{self, Level};
use crate::metrics;
use assignment::policy::Release;
use canary_filter::fuse::{Fuse, ResponseCounts};
use canary_filter::labels;

/// The number of times a state is read again that another worker has replaced. Counts that are then not added are lost; the next
/// second has others.
const ATTEMPTS: usize = 4;

/// The end of the key of a shared state: the number of its form. While a module replaces an older one, both run in one process under
/// one `vm_id`; by its key neither reads or replaces a state of the other's form.
const FORM: &str = "#2";

/// Adds what this worker has counted since it did so last, and returns the second at which the fuse closes. Without counts it only reads.
pub(crate) fn add(release: &Release, counts: Option<&ResponseCounts>, now_seconds: u64) -> u64 {
    let Some(canary) = release.canary(|| now_seconds).and_then(|canary| release.versions.get(canary)) else {
        return 0;
    };
    let gauge = labels::fuse(release, canary);
    let key = format!("{gauge}{FORM}");
    let mut open_until = 0;
    for _ in 0..ATTEMPTS {
        let (shared, cas) = abi::shared_data(&key);
        let mut fuse = Fuse::from_bytes(shared.as_deref().unwrap_or_default());
        // What holds where the counts cannot be added: an open fuse does not look closed.
        open_until = fuse.open_until_seconds;
        let opened = counts.is_some_and(|counts| fuse.add(counts, now_seconds));
        if counts.is_some() && !abi::set_shared_data(&key, &fuse.to_bytes(), cas) {
            continue;
        }
        if opened {
            abi::log(Level::Warn, &format!("canary: the fuse of {}/{} is open", release.name, canary.name));
        }
        if fuse.open_until_seconds > 0 {
            metrics::record(&gauge, fuse.open_until_seconds);
        }
        return fuse.open_until_seconds;
    }
    open_until
}
