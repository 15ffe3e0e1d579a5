//! HMAC-SHA-256 over short messages, at the price of its compressions.
//!
//! Verifying a pin is most of the cost of a pinned user's request. Two thirds of that were the general-purpose hasher
//! around the compression function: buffers, copies and counters for messages of any length in any number of pieces.
//! Here each message is one slice. The compression function, which must not be home-made, is `sha2`'s; only the padding
//! is implemented here. The tests compare it with the `hmac` crate at every length.
//!
//! # Source
//! RFC 2104 §2 and §4 (keeping the two states that depend on the key alone); FIPS 180-4 §5.1.1 and §5.3.3.

use sha2::block_api::compress256;

const BLOCK_LEN: usize = 64;
/// The bytes of message that fit beside the padding's first byte and the length.
const MAX_LAST_LEN: usize = BLOCK_LEN - 9;
const INITIAL: State =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

type State = [u32; 8];

/// A key, as the states of the inner and the outer hash after their first block.
#[derive(Clone)]
pub(crate) struct HmacKey {
    inner: State,
    outer: State,
}

impl HmacKey {
    /// Prepares a key of any length.
    pub(crate) fn new(key: &[u8]) -> Self {
        let hashed;
        let key = if key.len() > BLOCK_LEN {
            hashed = bytes_of(finish(INITIAL, key, 0));
            &hashed[..]
        } else {
            key
        };
        let after_pad = |pad: u8| {
            let mut block = [pad; BLOCK_LEN];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            let mut state = INITIAL;
            compress256(&mut state, &[block]);
            state
        };
        Self { inner: after_pad(0x36), outer: after_pad(0x5c) }
    }

    /// The tag of a message: two compressions for up to 55 bytes, and one more for each further 64.
    pub(crate) fn tag(&self, message: &[u8]) -> [u8; 32] {
        let inner = bytes_of(finish(self.inner, message, BLOCK_LEN));
        bytes_of(finish(self.outer, &inner, BLOCK_LEN))
    }
}

/// The state after the rest of a message of which `before` bytes, whole blocks, have been hashed.
fn finish(mut state: State, message: &[u8], before: usize) -> State {
    let (blocks, rest) = message.as_chunks::<BLOCK_LEN>();
    compress256(&mut state, blocks);
    let mut block = [0; BLOCK_LEN];
    let (text, padding) = block.split_at_mut(rest.len());
    text.copy_from_slice(rest);
    if let Some(first) = padding.first_mut() {
        *first = 0x80;
    }
    if rest.len() > MAX_LAST_LEN {
        compress256(&mut state, &[block]);
        block = [0; BLOCK_LEN];
    }
    let bits = (before as u64 + message.len() as u64) * 8;
    if let Some(length) = block.last_chunk_mut() {
        *length = bits.to_be_bytes();
    }
    compress256(&mut state, &[block]);
    state
}

fn bytes_of(state: State) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.as_chunks_mut().0.iter_mut().zip(state) {
        *chunk = word.to_be_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hmac::{Hmac, KeyInit, Mac};

    fn reference(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    }

    #[test]
    fn it_is_hmac_sha_256_at_every_length_of_key_and_message() {
        let bytes: Vec<u8> = (0..=255).cycle().take(300).map(|byte: u8| byte.wrapping_mul(151)).collect();
        for message in 0..300 {
            assert_eq!(
                HmacKey::new(&bytes[..32]).tag(&bytes[..message])[..],
                reference(&bytes[..32], &bytes[..message]),
                "{message} bytes"
            );
        }
        for key in 0..200 {
            assert_eq!(
                HmacKey::new(&bytes[..key]).tag(b"message")[..],
                reference(&bytes[..key], b"message"),
                "a key of {key} bytes"
            );
        }
    }
}
