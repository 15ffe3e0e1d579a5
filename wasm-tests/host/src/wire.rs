//! How a header map crosses the boundary: the one layout both sides must agree on byte for byte.
//!
//! `count: u32`, then `name length: u32, value length: u32` per pair, then `name NUL value NUL` per pair; little endian.
//! Source: `proxy-wasm-cpp-host/src/pairs_util.cc`.

/// A header name and its value, as bytes.
pub type Pair = (Vec<u8>, Vec<u8>);

/// The bytes that stand for these pairs; an empty map is four zero bytes.
pub fn encode_pairs<'a>(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut lengths = Vec::new();
    let mut texts = Vec::new();
    let mut count = 0_u32;
    for (name, value) in pairs {
        count = count.saturating_add(1);
        for part in [name, value] {
            lengths.extend(length(part).to_le_bytes());
            texts.extend_from_slice(part);
            texts.push(0);
        }
    }
    [count.to_le_bytes().as_slice(), &lengths, &texts].concat()
}

/// The pairs that these bytes stand for; `None` when lengths and bytes do not fit, or a terminating NUL is missing.
///
/// Bytes after the last pair are ignored, as the host in Envoy does.
pub fn decode_pairs(bytes: &[u8]) -> Option<Vec<Pair>> {
    let (count, mut lengths) = split_u32(bytes)?;
    let table = usize::try_from(count).ok()?.checked_mul(8)?;
    let mut texts = lengths.get(table..)?;
    let mut pairs = Vec::new();
    for _ in 0..count {
        let (name_length, rest) = split_u32(lengths)?;
        let (value_length, rest) = split_u32(rest)?;
        let (name, after_name) = split_text(texts, name_length)?;
        let (value, after_value) = split_text(after_name, value_length)?;
        pairs.push((name.to_vec(), value.to_vec()));
        lengths = rest;
        texts = after_value;
    }
    Some(pairs)
}

/// The parts of a property path, which is encoded joined with NUL.
pub fn decode_path(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|&byte| byte == 0).collect()
}

/// An encoded property path: its parts joined with NUL.
pub fn encode_path(parts: &[&str]) -> Vec<u8> {
    parts.join("\0").into_bytes()
}

fn length(part: &[u8]) -> u32 {
    u32::try_from(part.len()).unwrap_or(u32::MAX)
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*head), rest))
}

fn split_text(bytes: &[u8], length: u32) -> Option<(&[u8], &[u8])> {
    let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    Some((text, rest.strip_prefix(b"\0")?))
}
