//! Our routes beside those of others, and the `DestinationRule`s in force.

mod beside;
mod beside_http_routes;
mod consistent_hash;
mod destination_rules;
mod gateway_api;
mod helm_upgrades;
mod injection_under_load;
mod owner_upgrades;
mod service_ports;
mod sibling_order;
