//! Addresses on this machine that nobody listens on.

use super::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// The wanted port where it is free, else one that is.
///
/// Between the look and the moment when Envoy binds it somebody else could take it; then Envoy says so and ends.
pub(super) fn free(wanted: u16) -> Result<SocketAddr, Error> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(wanted).or_else(|_taken| bind(0));
    listener.and_then(|listener| listener.local_addr()).map_err(|error| Error::Make("a port", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_not_given_out() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_ne!(free(port).unwrap().port(), port);
    }
}
