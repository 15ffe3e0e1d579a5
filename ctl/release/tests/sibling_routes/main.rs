//! Routes of our own beside `HTTPRoute`s of others: what they are, what is refused, and that they change no other answer.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tables, and a test that cannot go on says so by panicking"
)]

mod any_routes;
mod examples;
mod generator;
mod kit;
mod model;
mod refusals;
