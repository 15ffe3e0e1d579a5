//! Free addresses on this machine.

use crate::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// The preferred port where it is free, else one that is.
///
/// Another process could take it before Envoy binds it; then Envoy logs that and ends.
pub(crate) fn free(preferred: u16) -> Result<SocketAddr, Error> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(preferred).or_else(|_taken| bind(0));
    listener.and_then(|listener| listener.local_addr()).map_err(|error| Error::Create("a port", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_not_returned() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_ne!(free(port).unwrap().port(), port);
    }
}
