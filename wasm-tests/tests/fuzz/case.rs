//! One input, and its text: `config` in the first line, then `> ` request lines and `< ` response lines, an empty line
//! after each exchange. Bytes that are no printable ASCII are escaped as in a Rust byte string.

/// Header lines, as bytes.
pub(crate) type Lines = Vec<(Vec<u8>, Vec<u8>)>;

/// A configuration and what happens under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) config: Vec<u8>,
    pub(crate) exchanges: Vec<(Lines, Lines)>,
}

impl Case {
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("{}\n", escape(&self.config));
        for (request, response) in &self.exchanges {
            let marked = [('>', request), ('<', response)]
                .into_iter()
                .flat_map(|(mark, lines)| lines.iter().map(move |line| (mark, line)));
            for (mark, (name, value)) in marked {
                text.extend([&format!("{mark} "), &escape(name), " ", &escape(value), "\n"]);
            }
            text.push('\n');
        }
        text
    }

    pub(crate) fn from_text(text: &str) -> Self {
        let (config, rest) = text.split_once('\n').unwrap_or((text, ""));
        let exchanges = rest.split("\n\n").map(|part| (lines(part, "> "), lines(part, "< ")));
        let exchanges =
            exchanges.filter(|(request, response)| !request.is_empty() || !response.is_empty()).collect();
        Self { config: unescape(config), exchanges }
    }
}

fn lines(text: &str, mark: &str) -> Lines {
    let marked = text.lines().filter_map(|line| line.strip_prefix(mark));
    marked
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (unescape(name), unescape(value)))
        .collect()
}

/// Spaces too, so that a name ends at the first one.
fn escape(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace(' ', "\\x20")
}

fn unescape(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next().unwrap_or(b'\\') {
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            other => bytes.push(other),
        }
    }
    bytes
}
