//! API errors, slow API servers, operators that vanish, proxies that the API server does not reach.

mod api_errors;
mod blocked_metrics;
mod leases;
mod outages;
