//! A `curl` command, read for the request that it sends.
//!
//! # Source
//! `curl --help all`, curl 8; what Chrome, Firefox and Safari write for "Copy as cURL".

mod command;
mod options;

use super::explain_request::ExplainRequest;
use super::shell::{self, ShellError};

/// The error of a command that cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurlError {
    /// Not a command line.
    #[error(transparent)]
    Shell(#[from] ShellError),
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
    File { option: String, value: String },
    /// A URL without a host, or with characters that no host has.
    #[error("expected a URL as http://HOST/PATH, found `{0}`")]
    Url(String),
    /// No URL, or two.
    #[error("expected one URL, found {0}")]
    Urls(usize),
}

const COPY: &str =
    "copy the whole command as the browser has it (\"Copy as cURL (bash)\", \"(cmd)\"), from `curl` on";

impl CurlError {
    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Shell(ShellError::Operator(_)) => Some(
                "put the URL and each value in quotation marks, and leave out what is not part of the `curl` command",
            ),
            Self::Shell(ShellError::Variable(_)) => {
                Some("put in its value; where `$` is meant as it is, use single quotation marks")
            }
            Self::Shell(_) | Self::Urls(2..) | Self::Url(_) => Some(COPY),
            Self::NotCurl(found) if !found.is_empty() => Some(COPY),
            Self::UnknownOption(_) => Some("leave it out where it does not change the request's headers"),
            Self::NotCurl(_) | Self::NoValue(_) | Self::File { .. } | Self::Urls(_) => None,
        }
    }
}

pub(super) fn read(command: &str) -> Result<ExplainRequest, CurlError> {
    let words = shell::words(command)?;
    let mut words = words.into_iter();
    let name = words.next().unwrap_or_default();
    let program = name.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    if program != "curl" && program != "curl.exe" {
        return Err(CurlError::NotCurl(name));
    }
    options::read(words)?.into_asked()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header<'a>(asked: &'a ExplainRequest, name: &str) -> Vec<&'a str> {
        asked.headers.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn a_command_as_chrome_copies_it_is_read() {
        let asked = read(
            r"curl 'https://shop.example.com/cart?x=1#top' \
  -H 'accept: text/html,application/xhtml+xml' \
  -H 'accept-language: de' \
  -b $'JSESSIONID=4b\u00211d; lang=de' \
  -H 'sec-fetch-mode: navigate' \
  --compressed --insecure",
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
        assert!(!asked.has_header("accept"), "{asked:?}");
        assert_eq!(header(&asked, "x-empty"), [""]);
    }

    /// Commands that Chrome, Firefox and Edge copy for the shells of Windows, in the forms that they have had.
    #[test]
    fn one_request_is_read_alike_from_every_shell() {
        let expected = read(
            "curl 'https://shop.example.com/cart?x=%3D&y=1' -H 'sec-ch-ua: \"Chromium\";v=\"130\"' -b 'JSESSIONID=ab%3D' -H 'sec-fetch-mode: navigate'",
        );
        for command in [
            "curl ^\"https://shop.example.com/cart?x=^%^3D^&y=1^\" -H ^\"sec-ch-ua: ^\\^\"Chromium^\\^\";v=^\\^\"130^\\^\"^\" -b ^\"JSESSIONID=ab^%^3D^\" -H ^\"sec-fetch-mode: navigate^\"",
            "curl ^\"https://shop.example.com/cart?x=^%^3D^&y=1^\" ^\r\n  -H ^\"sec-ch-ua: ^\\^\"Chromium^\\^\";v=^\\^\"130^\\^\"^\" ^\r\n  -b ^\"JSESSIONID=ab^%^3D^\" ^\r\n  -H ^\"sec-fetch-mode: navigate^\"\r\n",
            "curl \"https://shop.example.com/cart?x=^%^3D^&y=1\" -H \"sec-ch-ua: ^\\^\"Chromium^\\^\";v=^\\^\"130^\\^\"\" -b \"JSESSIONID=ab^%^3D\" -H \"sec-fetch-mode: navigate\"",
            "curl.exe \"https://shop.example.com/cart?x=\"%\"3D&y=1\" -H \"sec-ch-ua: \"\"Chromium\"\";v=\"\"130\"\"\" -b \"JSESSIONID=ab\"%\"3D\" -H \"sec-fetch-mode: navigate\"",
            "C:\\Windows\\System32\\curl.exe 'https://shop.example.com/cart?x=%3D&y=1' `\r\n  -H \"sec-ch-ua: `\"Chromium`\";v=`\"130`\"\" `\r\n  -b 'JSESSIONID=ab%3D' `\r\n  -H 'sec-fetch-mode: navigate'",
        ] {
            assert_eq!(read(command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_pasted_wrongly_is_said() {
        for (command, expected) in [
            ("curl https://h/?a=1&b=2", "expected one command, found `&` outside quotation marks"),
            (
                "curl 'https://h/' ;\ncurl 'https://h/b'",
                "expected one command, found `;` outside quotation marks",
            ),
            ("curl 'https://h/' | jq .", "expected one command, found `|` outside quotation marks"),
            (
                "curl \u{201c}https://h/\u{201d}",
                "expected the plain characters of a shell, found '\u{201c}' (U+201C) outside quotation marks",
            ),
            ("curl 'https://h/'\u{a0}-I", "found '\\u{a0}' (U+00A0) outside quotation marks"),
            (
                "curl 'https://h/' \\",
                "expected the next line of the command after the last `\\`, found its end",
            ),
            (
                "curl ^\"https://h/^\" ^",
                "expected the next line of the command after the last `^`, found its end",
            ),
            ("$ curl 'https://h/'", "expected a command that starts with `curl`, found `$`"),
            ("PS C:\\> curl.exe \"h\"", "expected a command that starts with `curl`, found `PS`"),
            (
                "Invoke-WebRequest -Uri \"https://h/\"",
                "expected a command that starts with `curl`, found `Invoke-WebRequest`",
            ),
            (
                "fetch(\"https://h/\", {})",
                "expected a command that starts with `curl`, found `fetch(https://h/,`",
            ),
            ("curl /cart", "expected a URL as http://HOST/PATH, found `/cart`"),
            ("curl 'https://'", "expected a URL as http://HOST/PATH, found `https://`"),
            ("curl '\"https://h/\"'", "expected a URL as http://HOST/PATH, found `\"https://h/\"`"),
            ("curl 'h h2'", "expected a URL as http://HOST/PATH, found `h h2`"),
        ] {
            let error = read(command).unwrap_err();
            assert!(error.to_string().contains(expected), "{command}: {error}");
            assert!(error.hint().is_some(), "{command}: {error}");
        }
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
