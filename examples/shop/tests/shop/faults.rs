//! Faults that a shop is started with.

use std::time::Duration;

use anyhow::Result;
use demo_shop::ShopConfig;
use http::StatusCode;

use crate::browser::{Browser, Protocol, open_shop_with};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn of_a_hundred_pages_so_many_fail_and_so_many_are_never_answered() -> Result<()> {
    let config = ShopConfig::new("v2", "v2-a")?.with_fail_percent(10).with_hang_percent(2);
    let shop = open_shop_with(config).await?;
    let (mut failed, mut hung) = (0, 0);
    for _ in 0..100 {
        let mut browser = Browser::new(Protocol::Http1);
        match tokio::time::timeout(SHORT, browser.get(&shop, "/cart")).await {
            Ok(reply) => failed += usize::from(reply?.status == StatusCode::INTERNAL_SERVER_ERROR),
            Err(_) => hung += 1,
        }
    }
    // Of those that hang none fails.
    assert_eq!((hung, failed), (2, 9));
    let probe = Browser::new(Protocol::Http1).get(&shop, "/healthz").await?;
    assert_eq!(probe.status, StatusCode::OK, "a probe sees nothing of it");
    Ok(())
}

#[tokio::test]
async fn of_a_hundred_pages_so_many_are_half_a_second_late() -> Result<()> {
    let shop = open_shop_with(ShopConfig::new("v2", "v2-a")?.with_slow_percent(4)).await?;
    let mut slow = 0;
    for _ in 0..100 {
        let begun = std::time::Instant::now();
        let reply = Browser::new(Protocol::Http1).get(&shop, "/cart").await?;
        assert_eq!(reply.status, StatusCode::OK);
        slow += usize::from(begun.elapsed() >= Duration::from_millis(500));
    }
    assert_eq!(slow, 4);
    Ok(())
}

#[tokio::test]
async fn of_a_hundred_pages_so_many_forget_their_session_and_the_client_gets_another_one() -> Result<()> {
    let shop = open_shop_with(ShopConfig::new("v2", "v2-a")?.with_forget_percent(5)).await?;
    let mut browser = Browser::new(Protocol::Http1);
    assert_eq!(browser.get(&shop, "/cart/add?item=tea").await?.status, StatusCode::OK);
    let mut forgotten = 0;
    for _ in 0..100 {
        let reply = browser.get(&shop, "/cart").await?;
        assert_eq!(reply.status, StatusCode::OK);
        let is_new = reply.headers.contains_key("set-cookie");
        assert_eq!(reply.headers["x-shop-session"] == "lost", is_new);
        forgotten += usize::from(is_new);
    }
    assert_eq!(forgotten, 5);
    Ok(())
}

#[tokio::test]
async fn a_page_opens_a_session_in_the_place_of_one_that_is_over_or_unknown() -> Result<()> {
    let config = ShopConfig::new("v2", "v2-a")?.with_session_life(Some(Duration::from_millis(200)));
    let over = open_shop_with(config).await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.get(&over, "/cart/add?item=tea").await?;
    let reply = browser.get(&over, "/cart").await?;
    assert_eq!(
        (reply.headers.contains_key("set-cookie"), &reply.headers["x-shop-session"]),
        (false, &"known".try_into()?)
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    let reply = browser.get(&over, "/cart").await?;
    assert_eq!(
        (reply.headers.contains_key("set-cookie"), &reply.headers["x-shop-session"]),
        (true, &"lost".try_into()?)
    );
    for (reopens, expected) in [(false, false), (true, true)] {
        let config = ShopConfig::new("v1", "v1-a")?.with_reopened_sessions(reopens);
        let other = open_shop_with(config).await?;
        let reply = browser.get(&other, "/cart").await?;
        assert_eq!(reply.headers.contains_key("set-cookie"), expected, "a session of another pod");
    }
    Ok(())
}

#[tokio::test]
async fn faults_by_chance_are_not_spread_evenly() -> Result<()> {
    let config = ShopConfig::new("v2", "v2-a")?.with_fail_percent(50).with_random_faults(true);
    let shop = open_shop_with(config).await?;
    let mut fails = Vec::new();
    for _ in 0..200 {
        let reply = Browser::new(Protocol::Http1).get(&shop, "/cart").await?;
        fails.push(reply.status == StatusCode::INTERNAL_SERVER_ERROR);
    }
    let failed = fails.iter().filter(|fails| **fails).count();
    assert!((50..150).contains(&failed), "{failed} of 200: a deviation of seven sigma");
    assert!(fails.windows(2).any(|pair| pair[0] == pair[1]), "every second one failed: {fails:?}");
    Ok(())
}

#[tokio::test]
async fn all_pages_of_one_user_fail_and_nobody_elses() -> Result<()> {
    let shop = open_shop_with(ShopConfig::new("v2", "v2-a")?.with_fail_user("ada")).await?;
    for (user, status) in [("ada", StatusCode::INTERNAL_SERVER_ERROR), ("grace", StatusCode::OK)] {
        let mut browser = Browser::new(Protocol::Http1);
        assert_eq!(browser.get(&shop, "/").await?.status, StatusCode::OK, "before the login");
        browser.post(&shop, &format!("/login?user={user}")).await?;
        for path in ["/", "/cart", "/cart/add?item=tea"] {
            assert_eq!(browser.get(&shop, path).await?.status, status, "{user} {path}");
        }
        assert_eq!(browser.get(&shop, "/api/ping").await?.status, StatusCode::OK, "{user}");
    }
    Ok(())
}
