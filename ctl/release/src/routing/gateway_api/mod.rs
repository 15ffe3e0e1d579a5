//! The Gateway API: where its routes by header lead, and routes of our own beside those of others.
//!
//! ```text
//! binding       where a route answers, in the terms of Istio's route objects                   object  -> HostBinding
//! leads         whether a route leads to a version by our header, or to pods of every version   object  -> bool
//! gateway_route  a route as precedence needs it: its rules and their matches                    object  -> GatewayRoute
//! route_kind    HTTPRoute and GRPCRoute: their names, and how a match of each is read           match   -> RouteMatch
//! listener      where a route is attached: listeners, and its hostnames there                   route   -> Attachments
//! precedence    which of two matches goes first                                                 matches -> Ordering
//! overlap       whether a request can match two of them                                         matches -> bool
//! siblings      our routes: each match of the owner's with one header match more                routes  -> objects
//! proof         that our routes answer what the owner's would have given to the Service         matches -> Refusals
//! refusal       why there are no siblings
//! version_objects  Service, rule and routes of a version: their names  version -> objects
//! ```

mod binding;
mod gateway_route;
mod leads;
mod listener;
mod overlap;
mod precedence;
mod proof;
mod refusal;
mod route_kind;
mod siblings;
mod version_objects;

pub use binding::{NamespaceLabels, http_route_bindings};
pub(super) use binding::{is_http_route, listener_hosts};
pub(crate) use leads::is_granted;
pub(super) use leads::leads_to_whole_service;
pub use leads::{
    GATEWAY_API, GATEWAY_API_GROUP, GATEWAY_NAME_LABEL, OTHER_ROUTE_KINDS, REFERENCE_GRANT, WholeService,
    http_route_leads_by_header, http_route_ports,
};
pub use listener::ParentGateway;
pub use refusal::{RulePlace, SiblingRefusal};
pub use route_kind::{HTTP_ROUTE_KIND, RouteKind};
pub(crate) use siblings::leads_from;
pub use siblings::{SiblingContext, VersionRoute, sibling_routes};
pub(crate) use version_objects::VersionName;
