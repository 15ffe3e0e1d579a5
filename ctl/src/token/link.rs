//! The link that hands a token to a tester.

use url::{Url, form_urlencoded};

/// The error of a text that is no URL which can carry a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a URL like `https://shop.example.com/`, found `{}`", .0.escape_debug())]
pub struct LinkError(String);

/// The URL with the token as its last query parameter, before the fragment. A token that is there already is replaced: a proxy
/// reads the first one. Tokens have only characters that a query may hold as they are.
///
/// # Errors
///
/// If the text is no absolute URL with scheme `http` or `https`.
pub fn link(url: &str, parameter: &str, token: &str) -> Result<String, LinkError> {
    let error = || LinkError(url.to_owned());
    let mut url = Url::parse(url).map_err(|_| error())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(error());
    }
    let is_other = |pair: &&str| {
        let name = form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name);
        !pair.is_empty() && name.as_deref() != Some(parameter)
    };
    let added = format!("{parameter}={token}");
    let query: Vec<&str> =
        url.query().unwrap_or_default().split('&').filter(is_other).chain([added.as_str()]).collect();
    let query = query.join("&");
    url.set_query(Some(&query));
    Ok(url.into())
}

/// The token in a text: of a link its query parameter, as a proxy reads it; any other text is a token itself. `None` where a link has
/// no such parameter.
pub fn token_in(text: &str, parameter: &str) -> Option<String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => {
            let mut pairs = url.query_pairs();
            pairs.find_map(|(name, token)| (name == parameter).then(|| token.into_owned()))
        }
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_stands_behind_the_query_and_before_the_fragment() {
        for (url, expected) in [
            ("https://h", "https://h/?t=x"),
            ("https://h:8443/a/b", "https://h:8443/a/b?t=x"),
            ("http://h/?", "http://h/?t=x"),
            ("https://h/a?b=c%20d&e#d?e", "https://h/a?b=c%20d&e&t=x#d?e"),
            ("https://h?b=/c", "https://h/?b=/c&t=x"),
        ] {
            assert_eq!(link(url, "t", "x").as_deref(), Ok(expected));
        }
    }

    #[test]
    fn the_token_of_a_link_is_read_back_and_a_token_is_itself() {
        let token = "t1.k1.v2.1.0000000000000007.5.6.mac";
        let link = link("https://shop.example.com/a?b=c", "canary-token", token).unwrap();
        assert_eq!(token_in(&link, "canary-token").as_deref(), Some(token));
        assert_eq!(token_in(token, "canary-token").as_deref(), Some(token));
        assert_eq!(token_in("https://shop.example.com/?b=c", "canary-token"), None);
    }

    #[test]
    fn an_old_token_is_replaced() {
        for url in ["https://h/a?t=old&b=c", "https://h/a?b=c&t=old&t=older", "https://h/a?%74=old&b=c"] {
            assert_eq!(link(url, "t", "x").as_deref(), Ok("https://h/a?b=c&t=x"), "{url}");
        }
    }

    #[test]
    fn a_link_is_one_line() {
        assert_eq!(
            link("https://h/a\nhttps://evil/", "t", "x").as_deref(),
            Ok("https://h/ahttps://evil/?t=x")
        );
        assert_eq!(link("no\nurl", "t", "x").unwrap_err().to_string().lines().count(), 1);
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for url in ["shop.example.com", "ftp://h/", "https://", "mailto:a@b", ""] {
            assert!(link(url, "t", "x").is_err(), "{url}");
        }
    }
}
