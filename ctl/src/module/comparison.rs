//! Whether what is somewhere else is the module of this tool.

use crate::report::{Report, escape};
use canary_release::ModuleDigest;
use serde::Serialize;
use std::fmt;

/// How every WebAssembly module begins (WebAssembly core specification, section 5.5.16).
const MAGIC: &[u8] = b"\0asm";

/// A module beside that of this tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModuleComparison {
    /// Where it is.
    place: String,
    /// Whether it is the same.
    is_same: bool,
    /// The module of this tool.
    expected: ModuleDigest,
    /// What is there.
    found: ModuleDigest,
    /// Whether it is a WebAssembly module.
    is_wasm: bool,
}

impl ModuleComparison {
    /// Of what was read.
    pub(crate) fn of(place: String, expected: &ModuleDigest, bytes: &[u8]) -> Self {
        let found = ModuleDigest::of(bytes);
        let (is_same, is_wasm) = (found == *expected, bytes.starts_with(MAGIC));
        Self { place, is_same, expected: expected.clone(), found, is_wasm }
    }

    /// Whether both are the same.
    pub(crate) const fn is_same(&self) -> bool {
        self.is_same
    }
}

impl Report for ModuleComparison {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let place = escape::line(&self.place);
        if self.is_same {
            writeln!(out, "{place}: the module of this tool, {}", self.expected)?;
        } else {
            writeln!(out, "{place}: another module than that of this tool")?;
            writeln!(out, "  expected {}", self.expected)?;
            writeln!(out, "  found    {}", self.found)?;
        }
        if !self.is_wasm {
            writeln!(out, "  it is no WebAssembly module; archives are not unpacked")?;
        }
        Ok(())
    }
}
