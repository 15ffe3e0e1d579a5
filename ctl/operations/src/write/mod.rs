//! Writes that operations share.
//!
//! ```text
//! dry_run    the API server validates a plan                          Plan -> Refused
//! emergency  a rollback and the like, whatever becomes of the record  Record -> StoredRecord
//! ```

pub(crate) mod dry_run;
pub(crate) mod emergency;
