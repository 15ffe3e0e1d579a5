//! Versions that had no healthy pod a moment ago, as this worker saw it.

use std::cell::RefCell;

/// How long a version counts as gone after the proxy found no healthy pod of it. Seconds.
const PAUSE_SECONDS: u64 = 10;

/// How many versions are remembered at most; with more than that down there are other worries.
const MAX_REMEMBERED: usize = 64;

thread_local! {
    /// Outlives configurations: a weight change does not heal a version. (A VM has one thread.)
    static DOWN: RefCell<Vec<Down>> = const { RefCell::new(Vec::new()) };
}

struct Down {
    /// The routing value, `<release>/<version>`.
    version: String,
    until_seconds: u64,
}

/// Whether this version is down. Reads the clock only when something is.
pub(crate) fn is_down(version: &str, now: impl FnOnce() -> u64) -> bool {
    DOWN.with_borrow(|down| {
        let entry = down.iter().find(|down| down.version == version);
        entry.is_some_and(|entry| now() < entry.until_seconds)
    })
}

/// Remembers that this version is down.
pub(crate) fn note_down(version: &str, now: u64) {
    DOWN.with_borrow_mut(|down| {
        down.retain(|down| down.until_seconds > now && down.version != version);
        if down.len() < MAX_REMEMBERED {
            down.push(Down { version: version.to_owned(), until_seconds: now + PAUSE_SECONDS });
        }
    });
}
