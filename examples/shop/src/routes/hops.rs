//! `GET /catalog`: both hops of a request, the shop's and the catalog's, and what of a decision reached each.

use std::borrow::Cow;

use ::http::Method;
use ::http::request::Parts;
use serde::Serialize;

use super::only;
use crate::hop::{Via, arrived};
use crate::proto;
use crate::refusal::Refusal;
use crate::response::DelayedResponse;
use crate::visit::Visit;

/// How a request wants the catalog asked; `None` if its response does without, or will be a refusal.
pub(crate) fn asks_catalog(request: &Parts) -> Option<Via> {
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return None;
    }
    match request.uri.path() {
        "/" => Some(Via::Http),
        "/catalog" => via(request).ok(),
        _ => None,
    }
}

/// `GET /catalog?via=http`, `?via=grpc`: the shop's identity, the headers that it received, and the same of the catalog
/// behind it.
pub(super) fn catalog(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    #[derive(Serialize)]
    struct Hops<'a> {
        carried: Vec<proto::Header>,
        catalog: &'a proto::AskResponse,
    }
    only(visit, &[Method::GET], "GET, HEAD")?;
    via(visit.request)?;
    let catalog = visit.catalog()?.ok_or(Refusal::NoCatalog)?;
    visit.json(&visit.current(), Hops { carried: arrived(&visit.request.headers), catalog })
}

fn via(request: &Parts) -> Result<Via, Refusal> {
    let query = request.uri.query().unwrap_or_default();
    let asked =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "via").map(|(_, value)| value);
    let asked = asked.unwrap_or(Cow::Borrowed(Via::Http.as_str()));
    let refused = || Refusal::Value { place: "via", expected: "http or grpc", found: asked.to_string() };
    [Via::Http, Via::Grpc].into_iter().find(|via| via.as_str() == asked).ok_or_else(refused)
}
