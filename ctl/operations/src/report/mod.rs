//! Everything about a release at once: its status, and what is wrong with it.
//!
//! ```text
//! status  what is observed of a release      Record -> Observation
//! doctor  everything that is wrong, at once  Release -> Diagnosis
//! ```

pub(crate) mod doctor;
pub(crate) mod status;
