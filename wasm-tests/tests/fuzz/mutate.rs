//! Small damages to bytes: what edited cookies, cut lines and broken writers look like.

use fastrand::Rng;

/// What tends to hurt parsers of this contract, of cookies, pins, dates and headers.
const WORDS: [&[u8]; 34] = [
    b"",
    b".",
    b"..",
    b";",
    b"; ",
    b"=",
    b",",
    b" ",
    b"\"",
    b"\\",
    b"\0",
    b"\xff",
    b"\xc3\x28",
    b"%00",
    b"%2F",
    b"..",
    b"//",
    b"?",
    b"#",
    b"&",
    b":",
    b"]",
    b"0",
    b"-1",
    b"00",
    b"18446744073709551615",
    b"9999999999999999999",
    b"4294967296",
    b"1e9",
    b"null",
    b"{}",
    b"[]",
    b"p1.",
    b"Max-Age=",
];

/// Sometimes long: cookies reach kilobytes.
fn word(random: &mut Rng) -> Vec<u8> {
    match random.u8(..) {
        0..4 => WORDS[random.usize(..WORDS.len())].repeat(random.usize(..2_000)),
        4..64 => (0..random.usize(1..9)).map(|_| random.u8(..)).collect(),
        _ => WORDS[random.usize(..WORDS.len())].to_vec(),
    }
}

/// One to four damages in random places.
pub(crate) fn damage(random: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..=bytes.len());
        let to = random.usize(at..=bytes.len().min(at + 12));
        match random.u8(..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
            1 => drop(bytes.splice(at..at, word(random))),
            2 => drop(bytes.splice(at..to, word(random))),
            3 => drop(bytes.drain(at..to)),
            4 => bytes.truncate(at),
            5 => {
                let copy = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ if at < bytes.len() => bytes[at] = random.u8(..),
            _ => bytes.push(random.u8(..)),
        }
    }
}

/// Damages once in `one_in` calls.
pub(crate) fn sometimes(random: &mut Rng, one_in: u32, bytes: &mut Vec<u8>) {
    if random.u32(..one_in) == 0 {
        damage(random, bytes);
    }
}
