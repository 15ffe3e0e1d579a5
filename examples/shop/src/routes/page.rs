//! The HTML page: which version and pod answered, and the content of the cart.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::proto;
use crate::response::{DelayedResponse, full};
use crate::visit::{Brought, Current, Visit};

/// What the shop sells.
const GOODS: [&str; 3] = ["tea", "cup", "kettle"];

/// The home page for `current`; every text that a visitor gave is escaped.
pub(super) fn home(
    visit: &Visit<'_>,
    current: &Current,
    catalog: Option<&proto::AskResponse>,
) -> DelayedResponse {
    let config = &visit.shop.config;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Demo shop " (config.version()) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body style={ "--hue: " (hue(config.version())) } {
                h1 { "Demo shop" }
                p.from { span { "version " (config.version()) } span { "pod " (config.pod()) } }
                @if let Some(catalog) = catalog {
                    p.from { span { "catalog " (catalog.version) } span { "pod " (catalog.pod) } }
                }
                @if visit.brought == Brought::Lost {
                    p.lost {
                        strong { "Your session was lost. " }
                        "This pod has never heard of it: a new one has begun, with an empty cart."
                    }
                }
                (cart(&current.session.cart))
                p { @for item in GOODS { button data-post={ "/cart?item=" (item) } { "Add " (item) } } }
                p { (account(current.session.user.as_deref())) }
                footer { "session " (current.id.as_ref().map_or("none", |id| id.as_str())) }
                script src="/static/app.js" {}
            }
        }
    };
    DelayedResponse::new("text/html; charset=utf-8", full(page.into_string()))
}

fn cart(items: &[String]) -> Markup {
    html! {
        h2 { "Cart (" (items.len()) ")" }
        @if items.is_empty() { p { "Nothing in it yet." } }
        @else { ul { @for item in items { li { (item) } } } }
    }
}

fn account(user: Option<&str>) -> Markup {
    html! {
        @match user {
            Some(user) => { "Logged in as " strong { (user) } " " button data-post="/logout" { "Log out" } },
            None => button data-post="/login?user=ada" { "Log in as ada" },
        }
    }
}

/// A colour per version, in degrees, so that a flip is seen before it is read. Steps of the golden angle keep
/// neighbours (`v1`, `v2`) far apart.
fn hue(version: &str) -> u32 {
    let sum = version.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    sum % 360 * 137 % 360
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_visitor_put_into_the_cart_is_escaped() {
        let shown = cart(&["<script>alert(1)</script>".to_owned()]).into_string();
        assert!(shown.contains("&lt;script&gt;alert(1)"), "{shown}");
    }

    #[test]
    fn two_versions_in_a_row_have_colours_apart() {
        assert!(hue("v1").abs_diff(hue("v2")) > 60, "{} and {}", hue("v1"), hue("v2"));
    }
}
