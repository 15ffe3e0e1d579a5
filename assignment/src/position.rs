//! Finds a byte: the operation on which reading cookies depends.

/// The place of the first such byte.
///
/// Eight bytes at a time, which a 32-bit Wasm module can and the usual library (four, and slow to begin) does not: of a pinned
/// user's request it was the largest part. The trick is Mycroft's: subtracting one from each byte borrows into the top
/// bit only of bytes that are zero, and of those above the lowest such one.
///
/// # Source
/// <https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord>
pub fn position_of(byte: u8, bytes: &[u8]) -> Option<usize> {
    const WIDTH: usize = size_of::<u64>();
    const LOW: u64 = u64::from_ne_bytes([0x01; WIDTH]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; WIDTH]);
    let wanted = u64::from_ne_bytes([byte; WIDTH]);
    let (words, rest) = bytes.as_chunks::<WIDTH>();
    let mut before = 0;
    for word in words {
        let zero_where_found = u64::from_le_bytes(*word) ^ wanted;
        let found = zero_where_found.wrapping_sub(LOW) & !zero_where_found & HIGH;
        if found != 0 {
            return Some(before + found.trailing_zeros() as usize / 8);
        }
        before += WIDTH;
    }
    rest.iter().position(|found| *found == byte).map(|place| before + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_an_equal_byte_is_found_at_every_place() {
        for other in [b';' - 1, b';' + 1, b';' ^ 0x80, 0, 0x80, 0xff] {
            for place in 0..40 {
                let mut bytes = [other; 40];
                assert_eq!(position_of(b';', &bytes), None);
                bytes[place] = b';';
                assert_eq!(position_of(b';', &bytes), Some(place), "{other}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_the_place_that_a_plain_search_finds(bytes in proptest::collection::vec(0_u8..4, 0..70), byte in 0_u8..4) {
            prop_assert_eq!(position_of(byte, &bytes), bytes.iter().position(|found| *found == byte));
        }
    }
}
