//! Pods and gateways that vanish, and proxies that the API server does not reach.

mod blocked_metrics;
mod outages;
