//! How a response ends after its headers: with a gRPC status in its trailers, or broken off.

use assignment::request::Headers;

/// Envoy's flags of a response whose upstream ended it early: remote reset, connection termination, protocol error.
///
/// # Source
/// `CoreResponseFlag` in `envoy/stream_info/stream_info.h`, a bit each.
const BROKEN_OFF: u64 = 1 << 4 | 1 << 6 | 1 << 23;
/// The flag of a client that left.
const CLIENT_LEFT: u64 = 1 << 14;

/// Whether the upstream broke a response off, by the attribute `response.flags`: eight bytes, the lowest first. One whose client left
/// says nothing about its version.
pub fn is_broken_off(flags: &[u8]) -> bool {
    let flags = flags.try_into().map_or(0, u64::from_le_bytes);
    flags & BROKEN_OFF != 0 && flags & CLIENT_LEFT == 0
}

/// Whether a `grpc-status` is a fault of the server: `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`,
/// `INTERNAL`, `UNAVAILABLE`, `DATA_LOSS`.
///
/// # Source
/// The status codes for which a server's span is an error:
/// <https://opentelemetry.io/docs/specs/semconv/rpc/grpc/#grpc-status>
pub const fn is_grpc_failure(status: &[u8]) -> bool {
    matches!(status, b"2" | b"4" | b"12" | b"13" | b"14" | b"15")
}

/// The `grpc-status` of trailers; empty if there is none.
pub fn grpc_status(trailers: Headers<'_>) -> &[u8] {
    trailers.iter().find(|(name, _)| *name == GRPC_STATUS).map_or(b"", |(_, status)| status)
}

/// In the headers of a response without messages, else in its trailers.
pub(super) const GRPC_STATUS: &[u8] = b"grpc-status";

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_off(bits: &[u32]) -> bool {
        is_broken_off(&bits.iter().fold(0_u64, |flags, bit| flags | 1 << bit).to_le_bytes())
    }

    #[test]
    fn a_response_is_broken_off_by_its_upstream_alone() {
        for bit in [4, 6, 23] {
            assert!(broken_off(&[bit]), "{bit}");
            assert!(!broken_off(&[bit, 14]), "{bit}, and the client left");
        }
        assert!(!broken_off(&[]), "a whole one");
        assert!(!broken_off(&[14]), "its client left");
        assert!(!is_broken_off(b""), "no flags");
    }

    #[test]
    fn a_grpc_status_is_a_failure_where_it_is_the_servers_fault() {
        let failures = (0..=16).filter(|code: &u32| is_grpc_failure(code.to_string().as_bytes()));
        assert_eq!(failures.collect::<Vec<_>>(), [2, 4, 12, 13, 14, 15]);
        assert!(!is_grpc_failure(b""));
    }
}
