//! Cookies as bytes on the wire: read from any number of `Cookie` lines, written as `Set-Cookie` lines.

use ::http::header::{COOKIE, HeaderMap, HeaderValue, InvalidHeaderValue};

use crate::session::SessionId;

/// Every non-empty value of the cookie `name`, in order, over all `Cookie` lines. Other cookies may hold
/// any bytes.
pub(crate) fn values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    headers
        .get_all(COOKIE)
        .into_iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
        .filter(|value| !value.is_empty())
}

/// The line that gives the session to the browser, as a servlet container writes it.
pub(crate) fn set_session(name: &str, id: &SessionId) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::try_from(format!("{name}={id}; Path=/; HttpOnly"))
}

/// The line that makes the browser forget the session.
pub(crate) fn delete_session(name: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::try_from(format!("{name}=; Path=/; Max-Age=0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&[u8]]) -> Vec<String> {
        let headers =
            lines.iter().map(|line| (COOKIE, HeaderValue::from_bytes(line).unwrap())).collect::<HeaderMap>();
        values(&headers, "sid").map(|value| String::from_utf8_lossy(value).into_owned()).collect()
    }

    #[test]
    fn a_cookie_is_found_on_every_line_and_in_order() {
        assert_eq!(read(&[b"a=1; sid=x", b"sid=y;sid=z"]), ["x", "y", "z"]);
    }

    #[test]
    fn a_longer_name_and_an_empty_value_are_not_the_cookie() {
        assert_eq!(read(&[b"sid2=x; xsid=y; sid=; sid"]), Vec::<String>::new());
    }

    #[test]
    fn bytes_that_are_not_utf8_beside_the_cookie_do_not_hide_it() {
        assert_eq!(read(&[b"a=\xff\xfe; sid=x"]), ["x"]);
    }
}
