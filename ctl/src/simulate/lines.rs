//! Lines, read in large blocks, so that the hash is what takes the time and not the reading.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// One read of this many bytes: large enough that system calls do not show, small enough for a second-level cache.
const BLOCK: usize = 256 * 1024;

/// The longest line, in bytes. A longer one means that the file is no list of lines, and would be kept in memory.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Calls `each` for every line, without its line end (`\n` or `\r\n`), and `advanced` with the bytes of every block.
///
/// The last line needs no line end. Lines are slices of the block; only one that crosses blocks is copied.
///
/// # Errors
/// The reader's; [`ErrorKind::InvalidData`] for a line longer than [`MAX_LINE`].
pub(super) fn for_each_line(
    reader: impl Read,
    mut each: impl FnMut(&[u8]),
    mut advanced: impl FnMut(u64),
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(BLOCK, reader);
    let mut unfinished = Vec::new();
    loop {
        let block = match reader.fill_buf() {
            Ok([]) => break,
            Ok(block) => block,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let rest = complete_lines(block, &mut unfinished, &mut each);
        unfinished.extend_from_slice(rest);
        if unfinished.len() > MAX_LINE {
            let message = format!("expected lines of at most {MAX_LINE} bytes, found a longer one");
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        let length = block.len();
        reader.consume(length);
        advanced(length as u64);
    }
    if !unfinished.is_empty() {
        each(without_return(&unfinished));
    }
    Ok(())
}

/// Hands over the lines that end in this block, the first of them with what the blocks before left; returns the rest.
fn complete_lines<'b>(block: &'b [u8], unfinished: &mut Vec<u8>, each: &mut impl FnMut(&[u8])) -> &'b [u8] {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', block) {
        let line = block.get(start..end).unwrap_or_default();
        if unfinished.is_empty() {
            each(without_return(line));
        } else {
            unfinished.extend_from_slice(line);
            each(without_return(unfinished));
            unfinished.clear();
        }
        start = end + 1;
    }
    block.get(start..).unwrap_or_default()
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most `step` bytes a read, so that lines cross blocks.
    struct Slowly<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.step.min(buffer.len());
            self.bytes.read(&mut buffer[..length])
        }
    }

    fn lines(bytes: &[u8], step: usize) -> (Vec<String>, u64) {
        let (mut found, mut total) = (Vec::new(), 0);
        for_each_line(
            Slowly { bytes, step },
            |line| found.push(String::from_utf8_lossy(line).into_owned()),
            |length| total += length,
        )
        .unwrap();
        (found, total)
    }

    #[test]
    fn lines_are_the_same_however_the_blocks_fall() {
        let text = b"one\r\ntwo\n\nthree four\nfive";
        for step in 1..=text.len() {
            let (found, total) = lines(text, step);
            assert_eq!(found, ["one", "two", "", "three four", "five"], "blocks of {step}");
            assert_eq!(total, text.len() as u64);
        }
    }

    #[test]
    fn an_empty_input_has_no_lines_and_a_last_line_end_makes_none() {
        assert_eq!(lines(b"", 1).0, Vec::<String>::new());
        assert_eq!(lines(b"one\n", 4).0, ["one"]);
    }

    #[test]
    fn a_file_that_is_no_list_of_lines_is_refused() {
        let error = for_each_line(io::repeat(b'x').take(2 * MAX_LINE as u64), |_| {}, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
