//! The dashboard's page in a real Chromium: what a person sees and does, and what another site can make of it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod attacks;
mod buttons;
mod demo;
mod page;
mod server;
