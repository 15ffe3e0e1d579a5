//! Reads the files that people name, up to a limit: a device or a log in the place of a release must not take all memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The largest file, in bytes. A release and a ring of keys have a few thousand; the API server refuses objects above 1.5 MiB.
const MAX_BYTES: u64 = 8 << 20;

/// The text of a file.
///
/// # Errors
///
/// If the file cannot be read, is no UTF-8, or is larger than 8 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        return Ok(text);
    }
    let message = format!("expected at most {MAX_BYTES} bytes, found more");
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_never_ends_is_an_error() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "expected at most 8388608 bytes, found more")
        );
    }
}
