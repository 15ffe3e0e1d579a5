//! Namespaces belong to threads: a short-lived thread enters them, and what it spawns is born inside.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Runs `work` on a thread of its own, which can enter other namespaces than the caller's. A panic is propagated to the
/// caller.
pub(crate) fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new().name("lab".to_owned()).spawn_scoped(scope, work)?;
        thread.join().map_or_else(|panic| resume_unwind(panic), Ok)
    })
}
