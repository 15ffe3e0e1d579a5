//! The shop over real sockets, as a proxy or a browser meets it.

mod browser;
mod probes;
mod process;
mod shopping;
mod sockets;
mod stopping;
