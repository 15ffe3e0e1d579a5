//! Sessions that began before the filter was there stay where they are, also when a promotion comes before their next
//! request (promise 4).

use canary_ctl::local::Filter;
use serde_json::Value;
use wasm_tests::client::User;
use wasm_tests::scenario::{Document, Story, World};

use crate::support::{PIN, SHOP, all_find_their_tea, on, on_every_envoy, shoppers};

/// The host's own policy keeps users on their pod, as it did before: the filter must not take its place.
fn document() -> Document {
    Document::session("shop").with("/spec/podAffinity", "none")
}

#[tokio::test]
async fn a_session_older_than_the_filter_stays_before_and_after_a_promotion() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { filter: Filter::Absent, ..Story::of([document()]) };
        let before = World::start(&binary, story, &pods).await.expect("a world without the filter");
        let mut shoppers = shoppers(&before, 20).await;
        assert_eq!(on(&shoppers, "v1"), 20);
        drop(before);

        let story = Story::of([document().with("/spec/weight", "100")]);
        let mut world = World::start(&binary, story, &pods).await.expect("a world with the filter");
        for (user, _) in &mut shoppers {
            user.swap_connection(&mut world.connection());
        }
        let (early, late) = shoppers.split_at_mut(10);
        all_find_their_tea(early).await;
        for (user, _) in early.iter_mut() {
            // The answer to a script's GET may be cached by anybody, so only a page can carry a pin.
            user.navigate("/cart").await.expect("an answer");
        }
        assert!(early.iter().all(|(user, _)| user.jar.get(PIN).is_some()), "adopted sessions are pinned");
        assert_eq!(new_version(&world).await, "v2", "only new sessions are drawn");

        promote(&mut world).await;
        all_find_their_tea(early).await;
        all_find_their_tea(late).await;
        assert_eq!(new_version(&world).await, "v2");
    })
    .await;
}

async fn new_version(world: &World) -> String {
    let mut user: User = world.user();
    let answer = user.navigate("/").await.expect("an answer");
    crate::support::version(&answer).to_owned()
}

async fn promote(world: &mut World) {
    let swapped = world.edit(SHOP, |document| {
        document.set("/spec/versions/stable", "v2");
        document.set("/spec/versions/canary", Value::Null);
    });
    swapped.await.expect("the promotion arrives");
}
