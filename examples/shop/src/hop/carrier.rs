//! What an application passes on from the request that it got to the requests that it makes: the carrier of a decision.

use ::http::{HeaderMap, HeaderName, HeaderValue};

use crate::proto::Header;

/// As the documentation asks applications to do.
const HEADERS: &[&str] = &["x-canary-cohort", "x-canary-id"];
/// As applications with OpenTelemetry do anyway (W3C Baggage and Trace Context).
const BAGGAGE: &[&str] = &["baggage", "traceparent", "tracestate"];
/// Never forwarded: the proxy of each hop computes it.
const ROUTING: &[&str] = &["x-canary-version"];

/// Which headers a shop passes on, unchanged, line by line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Propagate {
    /// `x-canary-id` and `x-canary-cohort`
    #[default]
    Headers,
    /// `baggage`, `traceparent` and `tracestate` (W3C), as an application with OpenTelemetry
    Baggage,
    /// Nothing, as an application that knows of neither
    None,
}

impl Propagate {
    /// The headers of `from` that are forwarded.
    pub(super) fn pick(self, from: &HeaderMap) -> HeaderMap {
        let names = match self {
            Self::Headers => HEADERS,
            Self::Baggage => BAGGAGE,
            Self::None => &[],
        };
        let mut picked = HeaderMap::new();
        for name in names {
            for line in from.get_all(*name) {
                picked.append(HeaderName::from_static(name), line.clone());
            }
        }
        picked
    }
}

/// What arrived of any carrier, and the routing header: one entry per line, in order of the names.
pub(crate) fn arrived(headers: &HeaderMap) -> Vec<Header> {
    let entry = |name: &str, line: &HeaderValue| Header {
        name: name.to_owned(),
        value: String::from_utf8_lossy(line.as_bytes()).into_owned(),
    };
    let names = [BAGGAGE, HEADERS, ROUTING].into_iter().flatten();
    names.flat_map(|name| headers.get_all(*name).into_iter().map(move |line| entry(name, line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> HeaderMap {
        let lines = [
            ("x-canary-id", "00"),
            ("x-canary-cohort", "a=canary"),
            ("x-canary-cohort", "b=stable"),
            ("x-canary-version", "shop/shop/v2"),
            ("baggage", "k=v"),
            ("baggage", " l = w ;p"),
            ("traceparent", "00-1-2-01"),
            ("cookie", "c"),
        ];
        lines.map(|(name, line)| (HeaderName::from_static(name), line.parse().unwrap())).into_iter().collect()
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        arrived(headers).into_iter().map(|header| format!("{}: {}", header.name, header.value)).collect()
    }

    #[test]
    fn an_application_that_knows_us_passes_id_and_cohort_on_and_never_the_routing_header() {
        let picked = Propagate::Headers.pick(&request());
        assert_eq!(
            shown(&picked),
            ["x-canary-cohort: a=canary", "x-canary-cohort: b=stable", "x-canary-id: 00"]
        );
        assert_eq!(picked.len(), 3, "and nothing that is not shown");
    }

    #[test]
    fn an_application_with_opentelemetry_passes_every_line_of_the_baggage_on_as_it_is() {
        let picked = Propagate::Baggage.pick(&request());
        assert_eq!(shown(&picked), ["baggage: k=v", "baggage:  l = w ;p", "traceparent: 00-1-2-01"]);
        assert_eq!(picked.len(), 3);
    }

    #[test]
    fn an_application_that_knows_nothing_passes_nothing_on() {
        let picked = Propagate::None.pick(&request());
        assert!(picked.is_empty(), "{picked:?}");
    }
}
