//! Header pairs, in the two forms in which they reach us.

/// A list of headers, borrowed: the proxy's wire form in the filter, a plain list in the CLI and in tests.
///
/// Names are lower case and may repeat; values are bytes, not text.
#[derive(Clone, Copy, Debug)]
pub enum Headers<'h> {
    /// The serialized map of Proxy-Wasm ABI 0.2.1 (see [`Headers::from_wire`]).
    Wire {
        /// Key and value lengths, two little-endian `u32` for each pair.
        lengths: &'h [u8],
        /// Keys and values, each followed by a NUL.
        text: &'h [u8],
    },
    /// Pairs as they are.
    List(&'h [(&'h [u8], &'h [u8])]),
}

impl<'h> Headers<'h> {
    /// Reads the wire form: a `u32` count, then the lengths of all keys and values, then the bytes, each with a NUL.
    ///
    /// A map that is shorter than its declared length ends early, without a panic.
    ///
    /// # Source
    /// Proxy-Wasm ABI 0.2.1, "serialized map": <https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>
    pub fn from_wire(map: &'h [u8]) -> Self {
        let split = |(count, rest): (&[u8; 4], &'h [u8])| {
            rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(8)?)
        };
        match map.split_first_chunk().and_then(split) {
            Some((lengths, text)) => Self::Wire { lengths, text },
            None => Self::List(&[]),
        }
    }

    /// The pairs in order.
    pub fn iter(&self) -> Iter<'h> {
        match *self {
            Self::Wire { lengths, text } => Iter::Wire { lengths, text },
            Self::List(list) => Iter::List(list.iter()),
        }
    }
}

impl<'h> IntoIterator for &Headers<'h> {
    type Item = (&'h [u8], &'h [u8]);
    type IntoIter = Iter<'h>;
    fn into_iter(self) -> Iter<'h> {
        self.iter()
    }
}

/// The pairs of [`Headers`], in order.
#[derive(Clone, Debug)]
pub enum Iter<'h> {
    /// The rest of a wire form.
    Wire {
        /// The lengths left.
        lengths: &'h [u8],
        /// The bytes left.
        text: &'h [u8],
    },
    /// The rest of a list.
    List(std::slice::Iter<'h, (&'h [u8], &'h [u8])>),
}

impl<'h> Iterator for Iter<'h> {
    type Item = (&'h [u8], &'h [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::List(pairs) => pairs.next().copied(),
            Self::Wire { lengths, text } => {
                let (key_length, rest) = lengths.split_first_chunk()?;
                let (value_length, rest) = rest.split_first_chunk()?;
                let (key, after_key) = take_terminated(text, u32::from_le_bytes(*key_length))?;
                let (value, after_value) = take_terminated(after_key, u32::from_le_bytes(*value_length))?;
                (*lengths, *text) = (rest, after_value);
                Some((key, value))
            }
        }
    }
}

/// The first `length` bytes and what comes after them and their NUL.
fn take_terminated(bytes: &[u8], length: u32) -> Option<(&[u8], &[u8])> {
    let (taken, rest) = bytes.split_at_checked(length as usize)?;
    Some((taken, rest.split_first()?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut map = u32::try_from(pairs.len()).unwrap().to_le_bytes().to_vec();
        for (key, value) in pairs {
            map.extend(u32::try_from(key.len()).unwrap().to_le_bytes());
            map.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        }
        for part in pairs.iter().flat_map(|(key, value)| [key, value]) {
            map.extend_from_slice(part);
            map.push(0);
        }
        map
    }

    #[test]
    fn repeated_empty_and_binary_values_come_through() {
        let pairs: Vec<(&[u8], &[u8])> =
            vec![(b":path", b"/"), (b"cookie", b"a=1"), (b"cookie", b""), (b"x", b"\xff\x00\xfe")];
        let map = wire(&pairs);
        assert_eq!(Headers::from_wire(&map).iter().collect::<Vec<_>>(), pairs);
    }

    #[test]
    fn a_map_cut_anywhere_ends_early() {
        let map = wire(&[(b"name", b"value"), (b"other", b"thing")]);
        for end in 0..map.len() {
            assert!(Headers::from_wire(&map[..end]).iter().count() < 2, "cut at {end}");
        }
        assert_eq!(Headers::from_wire(&[0xff; 64]).iter().count(), 0);
    }
}
