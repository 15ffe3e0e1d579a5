//! The routes of a release: in route objects (`VirtualService`s) of our own, in those of others, and around both.
//!
//! ```text
//! route_targets  what a release needs in every list of routes   Record        -> RouteTargets
//! http_routes    inserts our routes before the owner's, undoes  spec.http    <-> spec.http
//! route_obstacle why a route of another owner cannot be edited
//! injection      the same for an object, with its owners        object        -> Object, Change
//! merge_order    which Istio tries first, where it merges       objects       -> notes
//! reroute        default routes after a role change             observed      -> Plan
//! leads          whether a route object leads to a version      objects       -> bool
//! gateway_api    the same of HTTPRoutes, which have no subsets    objects       -> bool
//! coverage       routes to the pods that bypass ours            objects       -> Gap
//! ```
//!
//! `spec.http` is one atomic list: the writer of one route owns all of them. So the list is taken over from its owner,
//! which is recorded in an annotation, and returned by `uninstall`. The names of our routes contain what is needed to
//! undo an edit, next to the routes that they belong to: if the owner reorders the list meanwhile, the edit can still
//! be undone.

/// The kind of the objects that contain routes.
pub const ROUTE_KIND: &str = "VirtualService";

/// The kinds of route objects that may lead to a version, for messages: those that somebody else writes may be of another.
pub const fn route_kinds(routes: Routes) -> &'static str {
    match routes {
        Routes::External => "VirtualService or HTTPRoute",
        Routes::Managed | Routes::Inject => ROUTE_KIND,
    }
}

use crate::spec::Routes;

mod coverage;
mod gateway_api;
mod leads;
mod route_object;
mod route_obstacle;
mod route_targets;
pub(crate) mod virtual_service_routes;

pub use coverage::{AmbientPods, Bypass, Coverage, Gap, Reach, UnmeshedPods, gaps};
pub use gateway_api::{
    GATEWAY_API, GATEWAY_NAME_LABEL, HTTP_ROUTE_KIND, WholeService, http_route_leads_by_header,
};
pub use leads::{leads_by_header, leads_to_subset};
pub use route_object::{covers_mesh, is_lost};
pub(crate) use route_object::{has_injected_route, http, is_ours, leading, lost_to, texts, was_edited};
pub use route_obstacle::RouteObstacle;
pub use route_targets::RouteTargets;
