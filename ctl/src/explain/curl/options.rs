//! The words of a `curl` command, sorted into what they say about the request.

use super::CurlError;
use super::command::Command;

/// Options that take no value and change nothing that matters here. Letters are their short forms.
const FLAGS: &[&str] = &[
    "--compressed",
    "--insecure",
    "--silent",
    "--show-error",
    "--location",
    "--verbose",
    "--include",
    "--fail",
    "--fail-with-body",
    "--globoff",
    "--no-buffer",
    "--http1.0",
    "--http1.1",
    "--http2",
    "--http2-prior-knowledge",
    "--http3",
    "--ipv4",
    "--ipv6",
    "--path-as-is",
    "--tlsv1.2",
    "--tlsv1.3",
    "--no-progress-meter",
    "--progress-bar",
    "--tcp-nodelay",
    "--remote-name",
    "--junk-session-cookies",
];
const SHORT_FLAGS: &str = "ksSLvifgN046#OjZ";

/// Options that take a value and change nothing that matters here.
const WITH_VALUE: &[&str] = &[
    "--output",
    "--max-time",
    "--connect-timeout",
    "--proxy",
    "--resolve",
    "--connect-to",
    "--cacert",
    "--cert",
    "--key",
    "--cookie-jar",
    "--write-out",
    "--dump-header",
    "--retry",
    "--limit-rate",
    "--ciphers",
    "--interface",
    "--max-redirs",
    "--upload-file",
];
const SHORT_WITH_VALUE: &[(char, &str)] = &[
    ('o', "--output"),
    ('m', "--max-time"),
    ('x', "--proxy"),
    ('E', "--cert"),
    ('c', "--cookie-jar"),
    ('w', "--write-out"),
    ('D', "--dump-header"),
    ('T', "--upload-file"),
    ('H', "--header"),
    ('b', "--cookie"),
    ('X', "--request"),
    ('d', "--data"),
    ('F', "--form"),
    ('u', "--user"),
    ('A', "--user-agent"),
    ('e', "--referer"),
];

/// Sorts the words behind `curl`.
pub(super) fn read(words: std::vec::IntoIter<String>) -> Result<Command, CurlError> {
    let mut reader = Reader { words, command: Command::default() };
    reader.read_all()?;
    Ok(reader.command)
}

struct Reader {
    words: std::vec::IntoIter<String>,
    command: Command,
}

impl Reader {
    fn read_all(&mut self) -> Result<(), CurlError> {
        let mut options_are_over = false;
        while let Some(word) = self.words.next() {
            match word.as_str() {
                "--" if !options_are_over => options_are_over = true,
                long if long.starts_with("--") && !options_are_over => self.long(long)?,
                short if short.starts_with('-') && short.len() > 1 && !options_are_over => {
                    self.short(short.get(1..).unwrap_or_default())?;
                }
                url => self.command.urls.push(url.to_owned()),
            }
        }
        Ok(())
    }

    fn long(&mut self, option: &str) -> Result<(), CurlError> {
        match option {
            "--get" => self.command.is_get = true,
            "--head" => self.command.is_head = true,
            flag if FLAGS.contains(&flag) => {}
            _ => return self.valued(option, None),
        }
        Ok(())
    }

    /// Flags may be joined (`-sSL`), and the last letter's value may be attached (`-XPOST`).
    fn short(&mut self, letters: &str) -> Result<(), CurlError> {
        for (index, letter) in letters.char_indices() {
            match letter {
                'G' => self.command.is_get = true,
                'I' => self.command.is_head = true,
                flag if SHORT_FLAGS.contains(flag) => {}
                _ => {
                    let named = SHORT_WITH_VALUE.iter().find(|(short, _)| *short == letter);
                    let (_, long) = named.ok_or_else(|| CurlError::UnknownOption(format!("-{letter}")))?;
                    let attached = letters.get(index + letter.len_utf8()..).filter(|rest| !rest.is_empty());
                    return self.valued(long, attached);
                }
            }
        }
        Ok(())
    }

    fn valued(&mut self, option: &str, attached: Option<&str>) -> Result<(), CurlError> {
        let is_data = option.starts_with("--data") || option.starts_with("--form") || option == "--json";
        let known = ["--header", "--cookie", "--request", "--url", "--user", "--user-agent", "--referer"];
        if !is_data && !known.contains(&option) && !WITH_VALUE.contains(&option) {
            return Err(CurlError::UnknownOption(option.to_owned()));
        }
        let value = attached.map(str::to_owned).or_else(|| self.words.next());
        let value = value.ok_or_else(|| CurlError::NoValue(option.to_owned()))?;
        let file = || CurlError::File { option: option.to_owned(), value: value.clone() };
        let command = &mut self.command;
        match option {
            "--header" if value.starts_with('@') => return Err(file()),
            "--cookie" if !value.contains('=') => return Err(file()),
            "--header" => command.headers.push(value),
            "--cookie" => command.cookies.push(value),
            "--request" => command.method = Some(value),
            "--url" => command.urls.push(value),
            "--user" => command.user = Some(value),
            "--user-agent" => command.defaults.push(("user-agent", value)),
            "--referer" => command.defaults.push(("referer", value)),
            "--json" => {
                command.defaults.push(("content-type", "application/json".to_owned()));
                command.data.push(value);
            }
            _ if is_data => command.data.push(value),
            _ => {}
        }
        Ok(())
    }
}
