//! Versions for which this worker recently found no healthy pod.

use std::cell::RefCell;

/// The seconds for which a version is ejected after the proxy found no healthy pod of it.
const EJECTION_SECONDS: u64 = 10;

/// The most versions that are ejected at a time, so that the list stays bounded.
const MAX_EJECTED: usize = 64;

thread_local! {
    /// Outlives configurations: a weight change does not heal a version. (A VM has one thread.)
    static EJECTED: RefCell<Vec<Ejected>> = const { RefCell::new(Vec::new()) };
}

struct Ejected {
    /// The routing value, `<release>/<version>`.
    version: String,
    until_seconds: u64,
}

/// Whether this version is ejected. Reads the clock only where it is in the list.
pub(crate) fn is_ejected(version: &str, now: impl FnOnce() -> u64) -> bool {
    EJECTED.with_borrow(|down| {
        let entry = down.iter().find(|down| down.version == version);
        entry.is_some_and(|entry| now() < entry.until_seconds)
    })
}

pub(crate) fn eject(version: &str, now: u64) {
    EJECTED.with_borrow_mut(|down| {
        down.retain(|down| down.until_seconds > now && down.version != version);
        if down.len() < MAX_EJECTED {
            down.push(Ejected { version: version.to_owned(), until_seconds: now + EJECTION_SECONDS });
        }
    });
}
