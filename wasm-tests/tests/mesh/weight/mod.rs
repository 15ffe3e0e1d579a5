//! The delivery of a weight to the proxies, and which operators may change it.

mod arrival;
mod break_glass;
mod lost_cookies;
mod pause;
mod status_share;
mod without_drain;
