//! Checks that fail before the first write, each with a name by which it is skipped.
//!
//! ```text
//! checks        the list of checks, and those that need a record alone    Record   -> CheckFailed
//! alternative   what can be done instead of skipping one                  CheckFailed.alternative
//! callers       calls to which no route of ours applies                   Callers  -> UnroutedCalls
//! default_route whether the Service selects stable alone                  selector -> CheckFailed
//! exposure      Gateways, their pods, their hosts and their protocol    Exposure -> CheckFailed
//! host_taken    routes of others that ours would replace                  Exposure -> CheckFailed
//! http_server   whether a server of a Gateway reads requests              Gateway  -> text
//! narrow_selector  whether a Service can have two versions behind it     selector -> NarrowSelector
//! request_authentication  whether the tokens of requests are verified   objects  -> bool
//! version_route whether route objects of others lead to a version         objects  -> RouteFault
//! wasm_runtime  whether a proxy survives its first Wasm filter            metrics  -> WasmRuntime
//! ```

mod alternative;
mod callers;
mod checks;
mod default_route;
mod exposure;
mod host_taken;
mod http_server;
mod narrow_selector;
mod request_authentication;
mod version_route;
mod wasm_runtime;

pub use alternative::Alternative;
pub use callers::{
    Callers, PodsBehind, UnroutedCalls, check_calls, hidden_subsets, same_pods, unrouted_calls,
};
pub use checks::{
    CheckFailed, PreflightCheck, check_pause, check_service_port, check_step, check_stickiness,
};
pub use default_route::DefaultRoute;
pub use exposure::{
    Exposure, GatewayObservation, OtherGateway, PodLabels, check_exposure, exposure_failures,
};
pub use narrow_selector::NarrowSelector;
pub use request_authentication::verifies_tokens;
pub(crate) use version_route::found_of;
pub use version_route::{RouteFault, RoutedVersion, names_header, no_route};
pub(crate) use wasm_runtime::istio_release;
pub use wasm_runtime::{ProxyRuntime, WasmRuntime, check_wasm_runtime, istio_tag};
