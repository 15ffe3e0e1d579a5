//! The routes of a release: in route objects (`VirtualService`s) of our own, in those of others, and around both.
//!
//! ```text
//! route_targets           what a release needs in every list of routes
//! route_object            whether an object leads to the Service, and has our routes   object       -> bool
//! virtual_service_routes  inserts our routes before the owner's, and removes them      spec.http   <-> spec.http
//! route_obstacle          why a route of another owner cannot be edited
//! host_binding            which objects answer for a host                              objects      -> TakenHost
//! gateway_server          the hosts of a Gateway's server, and the servers beside it   object       -> GatewayServer
//! leads                   whether a route object leads to a version                    objects      -> bool
//! gateway_api             where HTTPRoutes and GRPCRoutes lead, and ours beside them   objects      -> objects
//! coverage                routes to the pods that bypass ours                          objects      -> Gap
//! ```

/// The kind of the objects that contain routes.
pub const ROUTE_KIND: &str = "VirtualService";

/// The kinds of route objects that may lead to a version, for messages: those that somebody else writes may be of another.
pub const fn route_kinds(routes: Routes) -> &'static str {
    match routes {
        Routes::External => "VirtualService, HTTPRoute or GRPCRoute",
        Routes::Managed | Routes::Inject => ROUTE_KIND,
        Routes::GatewayApi => "HTTPRoute or GRPCRoute",
    }
}

use crate::spec::Routes;

mod coverage;
mod gateway_api;
mod gateway_server;
mod host_binding;
mod leads;
mod route_object;
mod route_obstacle;
mod route_targets;
pub(crate) mod virtual_service_routes;

pub use coverage::{AmbientPods, Bypass, Coverage, Gap, Reach, UnmeshedPods, gaps};
pub use gateway_api::{
    GATEWAY_API, GATEWAY_API_GROUP, GATEWAY_NAME_LABEL, HTTP_ROUTE_KIND, NamespaceLabels, OTHER_ROUTE_KINDS,
    ParentGateway, REFERENCE_GRANT, RouteKind, RulePlace, SiblingContext, SiblingRefusal, VersionRoute,
    WholeService, http_route_bindings, http_route_leads_by_header, http_route_ports, sibling_routes,
};
pub(crate) use gateway_api::{VersionName, is_granted, leads_from};
pub use gateway_server::{GatewayServer, bound_name, gateways_for, is_of_unknown_kind};
pub use host_binding::MESH;
pub use host_binding::{HostBinding, TakenHost, is_sent_to, taken_hosts};
pub(crate) use host_binding::{RouteStart, gateway_name, narrower};
pub use leads::{leads_by_header, leads_to_subset, ports_by_header};
pub use route_object::{covers_mesh, is_lost, is_ours};
pub(crate) use route_object::{has_injected_route, http, leading, lost_to, texts, was_edited};
pub use route_obstacle::RouteObstacle;
pub use route_targets::RouteTargets;
