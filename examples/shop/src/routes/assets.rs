//! What caches may keep: a script, and a landing page that a careless application sets cookies on.

use maud::{DOCTYPE, html};

use crate::refusal::Refusal;
use crate::response::{DelayedResponse, full};
use crate::visit::Visit;

/// `GET /static/app.js`: the page's script; public for an hour, and no session.
pub(super) fn script() -> DelayedResponse {
    DelayedResponse::new("text/javascript; charset=utf-8", full(include_str!("app.js")))
        .cached("public, max-age=3600")
}

/// `GET /landing`: public for a minute. With `?session=1` it opens a session when none is known, so that a cache serves
/// one user's cookie to other users: an application error.
pub(super) fn landing(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    let version = visit.shop.config.version();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Welcome to the demo shop" } }
            body { h1 { "Welcome" } p { "This page comes from " (version) "." } a href="/" { "Enter" } }
        }
    };
    let response = DelayedResponse::new("text/html; charset=utf-8", full(page.into_string()))
        .cached("public, max-age=60");
    if visit.param("session").is_none_or(|asked| asked != "1") {
        return Ok(response);
    }
    Ok(match visit.current_or_new()?.set_cookie {
        Some(line) => response.cookie(line),
        None => response,
    })
}
