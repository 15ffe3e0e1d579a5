//! By which object a release's configuration reaches the proxies: one file a mode, with its template.
//!
//! ```text
//! envoy_filter       `mode: envoyfilter`
//! wasm_plugin        `mode: wasmplugin`
//! traffic_extension  `mode: trafficextension`
//! plugin             what the two plugins have in common
//! select             which pods an object is for
//! config_object      the kind, and where in it the configuration and the module are   Mode          -> ConfigObject
//! deployed_config    the configuration in an object, of whichever kind                object        -> FilterConfig
//! module_source      the module that an object names                                  object        -> ModuleSource
//! module_rollout     the objects whose module changes, with the old and the new one   Object        -> ModuleRollout
//! module_contents    the bytes of embedded modules                                    objects       -> ModuleContents
//! ```
//!
//! A further mode is a variant of [`Mode`](crate::spec::Mode) with its name in `canary.yaml`, a file here, and a template.

mod config_object;
mod deployed_config;
mod envoy_filter;
mod module_contents;
mod module_rollout;
mod module_source;
mod plugin;
mod select;
mod traffic_extension;
mod wasm_plugin;

pub(crate) use config_object::{ConfigDocument, has_one_owner, owned_config};
pub use config_object::{beside_config, config_kinds};
pub use deployed_config::{deployed_config, with_deployed_config};
pub(crate) use envoy_filter::resource_name;
pub use module_contents::ModuleContents;
pub use module_rollout::{ModuleRollout, module_backup};
pub use module_source::{MissingModule, ModuleSource};
pub(crate) use select::{select_pods, selected_pods};
