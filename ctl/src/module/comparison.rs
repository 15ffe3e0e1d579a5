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
    /// The digest of its image, where it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    /// Whether it is a WebAssembly module; `None` if only its digest was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_wasm: Option<bool>,
}

impl ModuleComparison {
    /// Of what was read.
    pub(crate) fn of_bytes(place: String, expected: &ModuleDigest, bytes: &[u8]) -> Self {
        let compared = Self::of_digest(place, expected, ModuleDigest::of(bytes));
        Self { is_wasm: Some(bytes.starts_with(MAGIC)), ..compared }
    }

    /// Of what a manifest says.
    pub(crate) fn of_digest(place: String, expected: &ModuleDigest, found: ModuleDigest) -> Self {
        let is_same = found == *expected;
        Self { place, is_same, expected: expected.clone(), found, image: None, is_wasm: None }
    }

    /// In an image of this digest.
    pub(crate) fn in_image(self, digest: String) -> Self {
        Self { image: Some(digest), ..self }
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
        if self.is_wasm == Some(false) {
            writeln!(out, "  it is no WebAssembly module; archives are not unpacked")?;
        }
        match &self.image {
            Some(digest) => writeln!(out, "  image    {digest}"),
            None => Ok(()),
        }
    }
}
