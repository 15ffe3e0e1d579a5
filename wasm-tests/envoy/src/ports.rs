//! Free ports on 127.0.0.1 that stay free until the server that gets them has bound them.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range from which Linux takes the ports of outgoing connections (32768 and up): a client of another test
/// cannot take one of these between our look and the server's bind.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;

/// Tests of one process never get the same port twice; processes start at different places.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// `N` different ports that are free at the moment.
///
/// Port 0 if none is free, which does not happen on a machine that can run the tests.
pub fn free_ports<const N: usize>() -> [u16; N] {
    // The listeners stay open until all ports are found; they are closed when this function returns.
    let mut held = Vec::with_capacity(N);
    std::array::from_fn(|_| {
        let found = (0..COUNT).find_map(|_| listen(candidate()));
        found.map_or(0, |(port, listener)| {
            held.push(listener);
            port
        })
    })
}

fn listen(port: u16) -> Option<(u16, TcpListener)> {
    TcpListener::bind(("127.0.0.1", port)).ok().map(|listener| (port, listener))
}

fn candidate() -> u16 {
    // A prime step spreads processes whose ids follow each other.
    let start = u64::from(std::process::id()) * 7_919 % u64::from(COUNT);
    let offset = u64::from(NEXT.fetch_add(1, Ordering::Relaxed)) + start;
    FIRST + u16::try_from(offset % u64::from(COUNT)).unwrap_or_default()
}
