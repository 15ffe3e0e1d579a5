//! The link that hands a token to a tester.

/// Why a text is no URL that can carry a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a URL like `https://shop.example.com/`, found `{0}`")]
pub struct LinkError(String);

/// The URL with the token as a query parameter, before the fragment. Tokens have only characters that a query may
/// hold as they are.
pub fn link(url: &str, parameter: &str, token: &str) -> Result<String, LinkError> {
    let error = || LinkError(url.to_owned());
    let (head, fragment) = url.split_once('#').map_or((url, None), |(head, after)| (head, Some(after)));
    let (scheme, rest) = head.split_once("://").ok_or_else(error)?;
    if !matches!(scheme, "http" | "https") || rest.is_empty() || rest.starts_with(['/', '?']) {
        return Err(error());
    }
    let path = if rest.contains('/') { "" } else { "/" };
    let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, query)| (place, query));
    let before = if query.is_empty() { String::new() } else { format!("{query}&") };
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    Ok(format!("{scheme}://{place}{path}?{before}{parameter}={token}{fragment}"))
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
            ("https://h/a?b=c#d?e", "https://h/a?b=c&t=x#d?e"),
            ("https://h?b=/c", "https://h?b=/c&t=x"),
        ] {
            assert_eq!(link(url, "t", "x").as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for url in ["shop.example.com", "ftp://h/", "https://", "https:///a", ""] {
            assert!(link(url, "t", "x").is_err(), "{url}");
        }
    }
}
