//! The request that is measured: a browser loads a page, and its cookies take 300 bytes for every user.

use crate::config::HOST;
use bytes::Bytes;
use http_body_util::Full;

/// The requested path.
pub(crate) const PATH: &str = "/catalogue/shoes?page=2";

/// The length of the cookie header. Each path has other cookies in it; analytics fill it up.
const COOKIE_BYTES: usize = 300;

/// The headers of a request, in the order sent.
pub(crate) type Headers = Vec<(&'static str, String)>;

/// As Firefox sends it on a click within the site.
const BROWSER: [(&str, &str); 12] = [
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Language", "en-GB,en;q=0.7,de;q=0.3"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Referer", "https://shop.example.com/catalogue"),
    ("Connection", "keep-alive"),
    ("Upgrade-Insecure-Requests", "1"),
    ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-User", "?1"),
    ("Priority", "u=0, i"),
];

/// A browser with these cookies, after those that every site has.
pub(crate) fn browser(cookies: &[(String, String)]) -> Headers {
    let others = "theme=dark; consent=necessary";
    let ours: Vec<String> = cookies.iter().map(|(name, value)| format!("; {name}={value}")).collect();
    let ours = ours.concat();
    let analytics = COOKIE_BYTES.saturating_sub("_ga=; ".len() + others.len() + ours.len());
    let cookie =
        format!("_ga={}; {others}{ours}", "1.9".repeat(analytics).get(..analytics).unwrap_or_default());
    let mut headers: Headers = vec![("Host", HOST.to_owned())];
    headers.extend(BROWSER.map(|(name, value)| (name, value.to_owned())));
    headers.push(("Cookie", cookie));
    headers
}

/// The same for this program's own client.
pub(crate) fn single(headers: &Headers) -> Result<http::Request<Full<Bytes>>, browser::ClientError> {
    let mut request = http::Request::get(PATH);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    Ok(request.body(Full::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_header_has_the_same_length_whoever_it_is() {
        for cookies in [vec![], vec![("SESSIONID".to_owned(), "x".repeat(32))]] {
            let headers = browser(&cookies);
            assert_eq!(headers.last().unwrap().1.len(), COOKIE_BYTES);
        }
    }
}
