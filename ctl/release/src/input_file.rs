//! Reads the files that people name, up to a limit: a device or a log in the place of a release must not take all memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The largest file, in bytes. A release and a ring of keys have a few thousand; the API server refuses objects above 1.5 MiB.
const MAX_BYTES: u64 = 8 << 20;

/// The text of a file.
///
/// # Errors
///
/// If the file cannot be read, is no UTF-8, or is larger than 8 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    read_from(File::open(path)?)
}

/// The text of a stream.
///
/// # Errors
///
/// If it cannot be read, is no UTF-8, or is longer than 8 MiB.
pub fn read_from(stream: impl Read) -> io::Result<String> {
    String::from_utf8(bytes_of(stream)?).map_err(|error| {
        let place = place_of(error.as_bytes(), error.utf8_error().valid_up_to());
        io::Error::new(ErrorKind::InvalidData, format!("expected UTF-8, found other bytes at {place}"))
    })
}

/// The bytes of a file.
///
/// # Errors
///
/// If the file cannot be read, or is larger than 8 MiB.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(File::open(path)?)
}

fn bytes_of(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        return Ok(bytes);
    }
    let message = format!("expected at most {} MiB, found more", MAX_BYTES >> 20);
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

/// The line and the byte within it, both from 1.
fn place_of(bytes: &[u8], position: usize) -> String {
    let before = bytes.get(..position).unwrap_or_default();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    format!("line {line}, byte {}", position - line_start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_never_ends_is_an_error() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "expected at most 8 MiB, found more")
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error_with_their_place() {
        let error = read_from(&b"a: 1\nb: \xff\n"[..]).unwrap_err();
        assert_eq!(error.to_string(), "expected UTF-8, found other bytes at line 2, byte 4");
        // The limit cuts a character in two, and what is wrong is the length.
        let long = [vec![b'x'; 8 << 20], "é".as_bytes().to_vec()].concat();
        assert_eq!(read_from(long.as_slice()).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
