//! Sessions that began before the filter was installed stay on their version, also if a promotion happens before their
//! next request (promise 4).

use browser::User;
use canary_ctl::local::Filter;
use serde_json::Value;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup};

use crate::support::{PIN, SHOP, all_find_their_tea, on, on_every_envoy, shoppers};

/// The host's own policy keeps users on their pod, as it did before: the filter must not take its place.
fn document() -> Document {
    Document::session("shop").with("/spec/sessionAffinity", "none")
}

#[tokio::test]
async fn a_session_older_than_the_filter_stays_before_and_after_a_promotion() {
    on_every_envoy(|binary, pods| async move {
        let setup = EnvoySetup { filter: Filter::Absent, ..EnvoySetup::of([document()]) };
        let before = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture without the filter");
        let mut shoppers = shoppers(&before, 20).await;
        assert_eq!(on(&shoppers, "v1"), 20);
        drop(before);

        let setup = EnvoySetup::of([document().with("/spec/weight", "100")]);
        let mut fixture =
            EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture with the filter");
        for (user, _) in &mut shoppers {
            user.swap_connection(&mut fixture.connection());
        }
        let (early, late) = shoppers.split_at_mut(10);
        all_find_their_tea(early).await;
        for (user, _) in early.iter_mut() {
            // A shared cache may store the response to a script's GET, so only a page can set a pin.
            user.navigate("/cart").await.expect("a response");
        }
        assert!(early.iter().all(|(user, _)| user.jar.get(PIN).is_some()), "adopted sessions are pinned");
        assert_eq!(new_version(&fixture).await, "v2", "only new sessions are drawn");

        promote(&mut fixture).await;
        all_find_their_tea(early).await;
        all_find_their_tea(late).await;
        assert_eq!(new_version(&fixture).await, "v2");
    })
    .await;
}

async fn new_version(fixture: &EnvoyFixture) -> String {
    let mut user: User = fixture.user();
    let response = user.navigate("/").await.expect("a response");
    crate::support::version(&response).to_owned()
}

async fn promote(fixture: &mut EnvoyFixture) {
    let swapped = fixture.edit(SHOP, |document| {
        document.set("/spec/versions/stable", "v2");
        document.set("/spec/versions/canary", Value::Null);
    });
    swapped.await.expect("the promotion arrives");
}
