//! The shop over real sockets, as a proxy or a browser meets it.

mod browser;
mod caller;
mod faults;
mod hops;
mod probes;
mod process;
mod shopping;
mod sockets;
mod stopping;
mod streams;
