//! The delivery of a weight to the proxies.

mod arrival;
mod break_glass;
mod lost_cookies;
mod status_share;
mod without_drain;
