//! Why the host could not go on: always a fact a test can match on.

use std::path::PathBuf;

/// What went wrong in the host or in the guest.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The file could not be read.
    #[error("cannot read the module {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The bytes are no module that can be compiled.
    #[error("cannot compile the module: {0}")]
    Compile(String),
    /// The module lacks what every Proxy-Wasm 0.2 module exports.
    #[error("the module does not export {expected}, it exports: {found}")]
    MissingExport {
        /// The export, or the alternatives.
        expected: &'static str,
        /// What it exports.
        found: String,
    },
    /// Instantiation failed: an import of a wrong type, or the start function trapped.
    #[error("cannot instantiate the module: {0}")]
    Instantiate(String),
    /// The guest trapped; its VM is dead from now on, as in Envoy.
    #[error("the guest trapped in {entry}: {cause}{}", last_words(log.as_deref()))]
    Trap {
        /// The exported function the host had called.
        entry: &'static str,
        /// Wasmtime's reason.
        cause: String,
        /// The last line the guest logged: a panic's message, if it was one.
        log: Option<String>,
    },
    /// The VM died of an earlier trap; Envoy answers 503 here until it reloads.
    #[error("the vm is dead: the guest trapped before")]
    Dead,
    /// No configuration has been accepted in this VM yet, so no root context can serve a request.
    #[error(
        "no root context serves requests, hint: call Vm::configure with a configuration that is accepted"
    )]
    NotConfigured,
}

fn last_words(log: Option<&str>) -> String {
    log.map(|line| format!(" (last log line: {line})")).unwrap_or_default()
}
