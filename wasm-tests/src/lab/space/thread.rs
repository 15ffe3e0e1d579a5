//! Namespaces belong to threads: a short-lived thread enters them, and what it spawns is born inside.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Does this on a thread of its own, which may then be in other namespaces than the caller. A panic goes on in the caller.
pub(in super::super) fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new().name("lab".to_owned()).spawn_scoped(scope, work)?;
        thread.join().map_or_else(|panic| resume_unwind(panic), Ok)
    })
}
