//! The operations against an API server in memory that keeps objects, field managers and versions, and proxies that run what
//! istiod would send them. What Kubernetes and Istio really do, `wasm-tests/tests/mesh` tests.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod admission;
mod adopting;
mod ambient;
mod applying;
mod beside_foreign_routes;
mod beside_grpc_routes;
mod beside_http_routes;
mod causes;
mod deleted_objects;
mod denied;
mod doctor;
mod dropped_canary;
mod external_routes;
mod http_routes;
mod installations;
mod interrupted;
mod keys;
mod leases;
mod listing;
mod lost_record;
mod make_before_break;
mod moves_users;
mod new_module;
mod object_metadata;
mod others;
mod peer_objects;
mod proxies_without_istiod;
mod readiness;
mod refused;
mod rollouts;
mod scraped;
mod template_drift;
mod train_checks;
mod train_roles;
mod trains;
mod twin_rights;
mod two_clusters;
mod undersized;
mod unobserved;
mod untrusted_records;
