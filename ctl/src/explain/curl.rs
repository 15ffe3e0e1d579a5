//! A `curl` command, read for the request that it sends.
//!
//! # Source
//! `curl --help all`, curl 8; what Chrome, Firefox and Safari write for "Copy as cURL".

use super::asked::Asked;
use super::shell::{self, ShellError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why a command is none that can be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurlError {
    /// Not a command line.
    #[error(transparent)]
    Shell(#[from] ShellError),
    /// Another command.
    #[error("expected a command that starts with `curl`, found `{0}`")]
    NotCurl(String),
    /// An option that is not known, and might take a value.
    #[error("curl's option `{0}` is not known here")]
    UnknownOption(String),
    /// An option at the end that needs a value.
    #[error("curl's option `{0}` needs a value")]
    NoValue(String),
    /// The request depends on a file.
    #[error("`{option} {value}` reads a file: give its content instead")]
    File {
        /// The option.
        option: String,
        /// Its value.
        value: String,
    },
    /// No URL, or two.
    #[error("expected one URL, found {0}")]
    Urls(usize),
}

impl CurlError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Shell(_) => Some("copy the command for a POSIX shell (\"Copy as cURL (bash)\")"),
            Self::UnknownOption(_) => Some("leave it out where it does not change the request's headers"),
            Self::NotCurl(_) | Self::NoValue(_) | Self::File { .. } | Self::Urls(_) => None,
        }
    }
}

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

/// The request of a command.
pub(super) fn read(command: &str) -> Result<Asked, CurlError> {
    let words = shell::words(command)?;
    let mut words = words.into_iter();
    let name = words.next().unwrap_or_default();
    if name != "curl" && !name.ends_with("/curl") {
        return Err(CurlError::NotCurl(name));
    }
    let mut reader = Reader { words, command: Command::default() };
    reader.read_all()?;
    reader.command.into_asked()
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

#[derive(Default)]
struct Command {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<String>,
    cookies: Vec<String>,
    /// Headers of options, which a header of the same name in `headers` replaces.
    defaults: Vec<(&'static str, String)>,
    user: Option<String>,
    data: Vec<String>,
    is_get: bool,
    is_head: bool,
}

impl Command {
    fn into_asked(mut self) -> Result<Asked, CurlError> {
        let [url] = self.urls.as_slice() else { return Err(CurlError::Urls(self.urls.len())) };
        let (authority, mut path) = split_url(url);
        if self.is_get && !self.data.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&self.data.join("&"));
        }
        let has_body = !self.data.is_empty() && !self.is_get;
        let method = match (self.method.take(), self.is_head, has_body) {
            (Some(method), ..) => method,
            (None, true, _) => "HEAD".to_owned(),
            (None, false, true) => "POST".to_owned(),
            (None, false, false) => "GET".to_owned(),
        };
        let mut asked = Asked { path, method, ..Asked::of_host(authority) };
        self.write_headers(&mut asked, has_body);
        Ok(asked)
    }

    fn write_headers(&self, asked: &mut Asked, has_body: bool) {
        let mut removed = Vec::new();
        for line in &self.headers {
            match (line.split_once(':'), line.strip_suffix(';')) {
                // `Name:` takes a header of curl's own away, `Name;` sends an empty one.
                (Some((name, value)), _) if value.trim().is_empty() => {
                    removed.push(name.to_ascii_lowercase())
                }
                (Some((name, value)), _) => asked.add_header(name, value),
                (None, Some(name)) => asked.add_header(name, ""),
                (None, None) => {}
            }
        }
        if !self.cookies.is_empty() {
            asked.add_header("cookie", &self.cookies.join("; "));
        }
        let form = has_body.then(|| ("content-type", "application/x-www-form-urlencoded".to_owned()));
        let user =
            self.user.as_ref().map(|user| ("authorization", format!("Basic {}", STANDARD.encode(user))));
        let curls_own = [("accept", "*/*".to_owned()), ("user-agent", "curl".to_owned())];
        for (name, value) in self.defaults.iter().cloned().chain(user).chain(form).chain(curls_own) {
            if !asked.has_header(name) && !removed.iter().any(|gone| gone == name) {
                asked.add_header(name, &value);
            }
        }
    }
}

/// Authority and path of a URL as curl takes it: the scheme may be missing, the path too.
fn split_url(url: &str) -> (String, String) {
    let without_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let without_fragment = without_scheme.split('#').next().unwrap_or_default();
    let end = without_fragment.find(['/', '?']).unwrap_or(without_fragment.len());
    let (authority, path) = without_fragment.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    (host.to_owned(), format!("{slash}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header<'a>(asked: &'a Asked, name: &str) -> Vec<&'a str> {
        asked.headers.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn a_command_as_chrome_copies_it_is_read() {
        let asked = read(
            r#"curl 'https://shop.example.com/cart?x=1#top' \
  -H 'accept: text/html,application/xhtml+xml' \
  -H 'accept-language: de' \
  -b $'JSESSIONID=4b\u00211d; lang=de' \
  -H 'sec-fetch-mode: navigate' \
  --compressed --insecure"#,
        )
        .unwrap();
        assert_eq!((asked.authority.as_str(), asked.path.as_str()), ("shop.example.com", "/cart?x=1"));
        assert_eq!(asked.method, "GET");
        assert_eq!(header(&asked, "cookie"), ["JSESSIONID=4b!1d; lang=de"]);
        assert_eq!(header(&asked, "accept"), ["text/html,application/xhtml+xml"]);
    }

    #[test]
    fn a_command_as_firefox_copies_it_is_read() {
        let asked = read(
            "curl 'https://shop.example.com/pay' -X POST -H 'User-Agent: Mozilla/5.0' -H 'Cookie: JSESSIONID=1' \
             -H 'Content-Type: application/json' --data-raw '{\"a\": 1}'",
        )
        .unwrap();
        assert_eq!(asked.method, "POST");
        assert_eq!(header(&asked, "content-type"), ["application/json"]);
        assert_eq!(header(&asked, "user-agent"), ["Mozilla/5.0"]);
    }

    #[test]
    fn joined_flags_and_attached_values_are_taken_apart() {
        let asked = read("curl -sSLXPUT -HX-A:1 -u alice:pw shop.example.com:8080?q=1").unwrap();
        assert_eq!((asked.method.as_str(), asked.authority.as_str()), ("PUT", "shop.example.com:8080"));
        assert_eq!(asked.path, "/?q=1");
        assert_eq!(header(&asked, "x-a"), ["1"]);
        assert_eq!(header(&asked, "authorization"), ["Basic YWxpY2U6cHc="]);
    }

    #[test]
    fn data_makes_a_post_and_with_get_a_query() {
        let post = read("curl -d a=1 --data-urlencode b=2 h/p").unwrap();
        assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/p"));
        assert_eq!(header(&post, "content-type"), ["application/x-www-form-urlencoded"]);
        let get = read("curl -G -d a=1 -d b=2 'h/p?c=3'").unwrap();
        assert_eq!((get.method.as_str(), get.path.as_str()), ("GET", "/p?c=3&a=1&b=2"));
        assert_eq!(read("curl -I h").unwrap().method, "HEAD");
    }

    #[test]
    fn a_header_without_a_value_is_taken_away_and_one_with_a_semicolon_sent_empty() {
        let asked = read("curl -H 'Accept:' -H 'X-Empty;' -H 'Host: shop.example.com' http://u@127.0.0.1:1/")
            .unwrap();
        assert_eq!(asked.authority, "shop.example.com");
        assert!(!asked.has_header("accept"));
        assert_eq!(header(&asked, "x-empty"), [""]);
    }

    #[test]
    fn what_cannot_be_known_is_refused_by_name() {
        for (command, expected) in [
            ("wget h", CurlError::NotCurl("wget".into())),
            ("", CurlError::NotCurl(String::new())),
            ("curl h --frobnicate x", CurlError::UnknownOption("--frobnicate".into())),
            ("curl h -y", CurlError::UnknownOption("-y".into())),
            ("curl h -H", CurlError::NoValue("--header".into())),
            ("curl -b jar.txt h", CurlError::File { option: "--cookie".into(), value: "jar.txt".into() }),
            ("curl -s", CurlError::Urls(0)),
            ("curl a b", CurlError::Urls(2)),
        ] {
            assert_eq!(read(command).unwrap_err(), expected, "{command}");
        }
    }
}
