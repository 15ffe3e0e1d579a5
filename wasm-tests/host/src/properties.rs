//! The value of a property path: the test's own first, else filter state, else derived from the headers.
//!
//! Mirrors the common part of Envoy's attributes (`source/extensions/filters/common/expr/context.cc`); numbers are
//! eight bytes, little endian, as `serializeValue` writes them.

use super::headers::Headers;
use super::state::{Phase, State, Stream};
use super::wire;

/// Filter state that a guest sets is found under this prefix from the outside (`CelStateKeyPrefix`).
pub(crate) const FILTER_STATE_PREFIX: &[u8] = b"wasm.";

/// The value of this path, or none.
pub(crate) fn find(state: &State, path: &[u8]) -> Option<Vec<u8>> {
    let stream = state.streams.get(&state.current);
    let told = stream.and_then(|stream| stream.properties.get(path)).or_else(|| state.properties.get(path));
    if let Some(value) = told {
        return Some(value.clone());
    }
    let stream = stream?;
    let filter_state = stream.filter_state.get(&filter_state_name(path)).cloned();
    filter_state.or_else(|| derived(stream, &wire::decode_path(path)))
}

/// The full name under which `set_property` stores a path.
pub(crate) fn filter_state_name(path: &[u8]) -> Vec<u8> {
    [FILTER_STATE_PREFIX, path].concat()
}

fn derived(stream: &Stream, path: &[&[u8]]) -> Option<Vec<u8>> {
    if stream.phase == Phase::Done {
        return None;
    }
    match path {
        [b"request", b"headers", name] => joined(&stream.request, name),
        [b"response", b"headers", name] => joined(stream.response.as_ref()?, name),
        [b"request", attribute] => request_attribute(&stream.request, attribute),
        [b"response", b"code"] => {
            let code: i64 = stream.response.as_ref()?.text(":status")?.parse().ok()?;
            Some(code.to_le_bytes().to_vec())
        }
        _ => None,
    }
}

/// All lines of a header, joined with a comma: unlike the getter, an attribute hides none.
fn joined(headers: &Headers, name: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = headers.all(name).collect();
    (!lines.is_empty()).then(|| lines.join(&b','))
}

fn request_attribute(headers: &Headers, attribute: &[u8]) -> Option<Vec<u8>> {
    let header = match attribute {
        b"path" | b"url_path" | b"query" => ":path",
        b"method" => ":method",
        b"host" => ":authority",
        b"scheme" => ":scheme",
        b"id" => "x-request-id",
        b"useragent" => "user-agent",
        b"referer" => "referer",
        _ => return None,
    };
    let value = headers.get(header)?;
    let mut parts = value.splitn(2, |&byte| byte == b'?');
    match attribute {
        b"url_path" => parts.next().map(<[u8]>::to_vec),
        b"query" => Some(parts.nth(1).unwrap_or_default().to_vec()),
        _ => Some(value.to_vec()),
    }
}
