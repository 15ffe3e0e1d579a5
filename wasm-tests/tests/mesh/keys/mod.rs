//! Signing keys.

mod rotation;
