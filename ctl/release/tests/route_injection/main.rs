//! `routes: inject`, and what is done beside objects of others.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod kit;
mod order;
mod owners;
mod routes;
mod undo;
