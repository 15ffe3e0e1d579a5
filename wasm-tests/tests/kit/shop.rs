//! Proves the pods: each has its own memory, and a flip between them is seen.

use browser::load::{LoadProfile, run};
use browser::{Connection, User};
use wasm_tests::shop::Shop;

#[tokio::test]
async fn a_user_who_comes_to_another_pod_has_lost_the_session() {
    let [one, two] = ["v1-a", "v1-b"].map(|pod| Shop::start("v1", pod));
    let (one, two) = (one.await.expect("a shop"), two.await.expect("a shop"));
    let users = vec![User::http1(one.address(), "shop.example")];
    let (mut users, mut report) = run(users, &LoadProfile::navigate("/", 2)).await;
    assert!(report.lost().is_empty(), "{:?}", report.lost());
    assert_eq!(report.pod_flips(), []);
    assert!(report.failures().is_empty(), "{:?}", report.failures());

    users[0].swap_connection(&mut Connection::http1(two.address()));
    let (_, later) = run(users, &LoadProfile::navigate("/", 1)).await;
    report.append(later);
    assert_eq!((report.lost().len(), report.pod_flips().len(), report.version_flips().len()), (1, 1, 0));
}

#[tokio::test]
async fn a_pod_can_come_back_where_it_was() {
    let first = Shop::start("v1", "v1-a").await.expect("a shop");
    let address = first.address();
    drop(first);
    let again = Shop::start_at(address, "v2", "v2-a").await.expect("a shop");
    let response = User::http2(again.address(), "shop.example").navigate("/").await.expect("a response");
    assert_eq!(response.header("x-shop-version"), Some("v2"));
}
