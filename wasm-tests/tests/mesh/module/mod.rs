//! The filter's module in the proxies: a new one, and proxies without V8.

mod delivery;
mod misconfiguration;
mod new_module;
mod prepare;
mod prepare_sidecars;
