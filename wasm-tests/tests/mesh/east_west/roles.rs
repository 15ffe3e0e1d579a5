//! Users see one role in both services, whatever the second would have decided for itself.

use super::hops::{Hops, ask, both, fetch, versions};
use super::mutual_tls;
use crate::support::in_the_mesh;
use browser::Visit;
use mesh_lab::Lab;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn users_have_one_role_in_both_services_where_the_first_passes_our_headers_on() {
    in_the_mesh(async |lab| {
        let hops = users_have_one_role(lab, "headers").await;
        // Without propagated headers the next service decides for itself: the roles above did not agree by chance.
        hops.env.set_shop(lab, &["SHOP_PROPAGATE=none"]).await.unwrap();
        let alone = ("v2".to_owned(), "v1".to_owned());
        let parted = async || {
            let response = hops.env.user().send(&hops.tester("v2", "http")).await.ok()?;
            (response.status == 200 && versions(&response) == alone).then_some(())
        };
        lab.until("a catalog that decides alone", parted).await.unwrap();
    });
}

#[test]
fn users_have_one_role_in_both_services_where_the_first_passes_only_baggage_on() {
    in_the_mesh(async |lab| drop(users_have_one_role(lab, "baggage").await));
}

async fn users_have_one_role(lab: &Lab, propagate: &str) -> Hops {
    let hops = Hops::set_up(lab, propagate, propagate).await;
    hops.apply(lab, ["100", "100"], 1).await;
    mutual_tls::names_the_gateway(&hops).await;

    let mut pinned = hops.env.user();
    assert_eq!(version_of_page(&mut pinned).await, "v2");
    assert_eq!(hops.seen_by(&mut pinned, fetch).await, both("v2"));
    // Every user's bucket is canary, in both services.
    let adopted = hops.seen_by(&mut hops.env.user(), session_older_than_the_filter).await;
    assert_eq!(adopted, both("v1"), "an adopted user");

    hops.apply(lab, ["0", "0"], 2).await;
    // Every user's bucket is stable, in both services.
    assert_eq!(hops.seen_by(&mut pinned, fetch).await, both("v2"), "pinned before the weight was lowered");
    let tester = hops.seen_by(&mut hops.env.user(), |via| hops.tester("v2", via)).await;
    assert_eq!(tester, both("v2"), "a tester");
    assert_eq!(hops.seen_by(&mut hops.env.user(), ask).await, both("v1"), "anybody else");

    hops.apply(lab, ["50", "0"], 3).await;
    let mut canaries = 0;
    for _ in 0..30 {
        let mut user = hops.env.user();
        let version = version_of_page(&mut user).await;
        canaries += u64::from(version == "v2");
        assert_eq!(versions(&user.send(&fetch("http")).await.unwrap()), both(&version));
    }
    assert!((1..30).contains(&canaries), "{canaries} of 30 on the canary");
    hops
}

/// The version of the shop that a user gets who opens a page, which begins a session.
async fn version_of_page(user: &mut browser::User) -> String {
    let response = user.navigate("/").await.unwrap();
    response.header("x-shop-version").unwrap_or_else(|| panic!("no shop answered: {response:?}")).to_owned()
}

fn session_older_than_the_filter(via: &str) -> Visit {
    ask(via).header("cookie", "JSESSIONID=older-than-the-filter")
}
