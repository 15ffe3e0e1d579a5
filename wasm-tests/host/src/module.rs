//! The compiled module: compiling takes longer than most tests, so each file is compiled once per test binary.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use wasmtime::{Config, Engine};

use super::error::HostError;

/// One engine for all, as modules and stores of different engines do not mix.
static ENGINE: LazyLock<Result<Engine, String>> = LazyLock::new(|| {
    let mut config = Config::new();
    config.consume_fuel(true);
    Engine::new(&config).map_err(|error| format!("{error:#}"))
});

static LOADED: LazyLock<Mutex<HashMap<PathBuf, Module>>> = LazyLock::new(Mutex::default);

/// A compiled module; clones are cheap.
#[derive(Clone)]
pub struct Module {
    compiled: wasmtime::Module,
}

impl Module {
    /// The module in this file; the second caller in a test binary gets the first one's.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, HostError> {
        let path = path.as_ref();
        // The lock is held during compilation on purpose: tests that start at the same time wait for one compilation.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.get(path) {
            return Ok(module.clone());
        }
        let bytes =
            std::fs::read(path).map_err(|source| HostError::Read { path: path.to_owned(), source })?;
        let module = Self::from_bytes(&bytes)?;
        loaded.insert(path.to_owned(), module.clone());
        Ok(module)
    }

    /// The module in these bytes, binary or text.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HostError> {
        let engine = ENGINE.as_ref().map_err(|error| HostError::Compile(error.clone()))?;
        let compiled =
            wasmtime::Module::new(engine, bytes).map_err(|e| HostError::Compile(format!("{e:#}")))?;
        Ok(Self { compiled })
    }

    /// Names of what the module exports, in its order: every `proxy_on_…` among them is an entry per request.
    pub fn exports(&self) -> Vec<String> {
        self.compiled.exports().map(|export| export.name().to_owned()).collect()
    }

    /// What the module imports, as `module.name`.
    pub fn imports(&self) -> Vec<String> {
        self.compiled.imports().map(|import| format!("{}.{}", import.module(), import.name())).collect()
    }

    pub(crate) fn compiled(&self) -> &wasmtime::Module {
        &self.compiled
    }
}
