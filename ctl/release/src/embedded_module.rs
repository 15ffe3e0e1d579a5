//! A module that travels in the configuration itself, and what is shown and recorded instead of its bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The beginning of every WebAssembly module (WebAssembly core specification, section 5.5.16).
const MAGIC: &[u8] = b"\0asm";

/// The bytes of a module. Clones share them.
#[derive(Clone)]
pub struct EmbeddedModule {
    base64: Arc<str>,
    digest: ModuleDigest,
}

/// Which module it is: what is shown of it, and what a record keeps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModuleDigest {
    /// SHA-256 of the module, 64 hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: usize,
}

impl EmbeddedModule {
    /// A module of these bytes; `None` if they are no WebAssembly module.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        bytes
            .starts_with(MAGIC)
            .then(|| Self { base64: STANDARD.encode(bytes).into(), digest: ModuleDigest::of(bytes) })
    }

    /// A module as `inline_bytes` and `binaryData` contain it (RFC 4648, section 4); `None` if the text is no base64.
    pub fn from_base64(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        Some(Self { base64: text.into(), digest: ModuleDigest::of(&bytes) })
    }

    /// The bytes in base64.
    pub fn base64(&self) -> &str {
        &self.base64
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&*self.base64).unwrap_or_default()
    }

    /// Which module it is.
    pub const fn digest(&self) -> &ModuleDigest {
        &self.digest
    }
}

impl ModuleDigest {
    /// Of these bytes, a module or not.
    pub fn of(bytes: &[u8]) -> Self {
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            // Writing to a string cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        Self { sha256, size: bytes.len() }
    }

    /// The text that replaces a module's base64; for other texts, their size.
    pub(crate) fn display_base64(text: &str) -> String {
        let embedded = EmbeddedModule::from_base64(text);
        embedded.map_or_else(|| format!("{} bytes", text.len()), |embedded| embedded.digest.to_string())
    }
}

impl PartialEq for EmbeddedModule {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for EmbeddedModule {}

impl fmt::Debug for EmbeddedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmbeddedModule({})", self.digest)
    }
}

/// `sha256:<digest> (<size> bytes)`.
impl fmt::Display for ModuleDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{} ({} bytes)", self.sha256, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_known_by_the_sha256_of_its_bytes_and_never_printed() {
        let module = EmbeddedModule::new(b"\0asm").unwrap();
        // By `printf '\0asm' | sha256sum`.
        let sha256 = "cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f";
        assert_eq!(module.digest().to_string(), format!("sha256:{sha256} (4 bytes)"));
        assert_eq!(format!("{module:?}"), format!("EmbeddedModule(sha256:{sha256} (4 bytes))"));
        assert_eq!(module.bytes(), b"\0asm");
        assert_eq!(EmbeddedModule::from_base64(module.base64()), Some(module));
    }

    #[test]
    fn what_is_no_module_is_none() {
        assert_eq!(EmbeddedModule::new(b""), None);
        assert_eq!(EmbeddedModule::new(b"#!/bin/sh"), None);
        assert_eq!(EmbeddedModule::from_base64("no base64"), None);
    }
}
