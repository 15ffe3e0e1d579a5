//! What a person sees and does.

use crate::server::{Dashboard, view};
use canary_dashboard::{HistoryView, ProblemView, RolloutProgress};
use canary_release::evidence::ResponseCount;
use canary_release::rollout::FailureInterval;
use serde_json::json;
use std::time::Instant;
use wasm_tests::chromium::Tab;

const CANARY_DOTS: &str = "document.querySelectorAll('.dot.canary').length";

#[tokio::test]
async fn dots_move_to_the_canary_when_its_share_grows_and_none_moves_back() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until(CANARY_DOTS, 40).await;
    let numbers = "[...document.querySelectorAll('.dot')].map((d, at) => d.classList.contains('canary') ? at : -1).filter((at) => at >= 0)";
    let before = tab.evaluate(numbers).await;
    dashboard.set(view("shop/shop", 50, 50));
    tab.until(CANARY_DOTS, 100).await;
    let after = tab.evaluate(numbers).await;
    let stays = |dot: &serde_json::Value| after.as_array().unwrap().contains(dot);
    assert!(before.as_array().unwrap().iter().all(stays), "{before} became {after}");
    dashboard.set(view("shop/shop", 0, 0));
    tab.until("document.body.innerText.includes('No request was counted')", true).await;
    assert_eq!(tab.evaluate(CANARY_DOTS).await, json!(100), "where nothing was counted the dots stay");
}

#[tokio::test]
async fn problems_have_hints_and_an_error_of_the_cluster_says_what_to_do() {
    let mut release = view("shop/shop", 80, 20);
    let hint = "start its pods".to_owned();
    release.problems = vec![ProblemView { message: "version `v2` has no ready pod of 1".to_owned(), hint }];
    let dashboard = Dashboard::start([release]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    let shown = "document.querySelector('.problem')?.innerText.includes('no ready pod of 1') && document.querySelector('.problem').innerText.includes('start its pods')";
    tab.until(shown, true).await;
    tab.goto(&dashboard.url("shop/blog")).await;
    tab.until("document.getElementById('fault').innerText.includes('none named `shop/blog`')", true).await;
    assert!(
        tab.evaluate("document.getElementById('fault').innerText")
            .await
            .as_str()
            .unwrap()
            .contains("look at the list")
    );
}

#[tokio::test]
async fn the_weight_over_time_has_a_mark_for_each_change_that_says_who_did_it() {
    let mut release = view("shop/shop", 80, 20);
    let change = |minutes: i64, weight: &str, text: &str| HistoryView {
        at: release.at - jiff::SignedDuration::from_mins(minutes),
        weight: weight.parse().unwrap(),
        text: text.to_owned(),
    };
    release.history = vec![change(5, "20%", "bob: weight 20%"), change(30, "5%", "ada: weight 5%")];
    let dashboard = Dashboard::start([release]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    let titles = "[...document.querySelectorAll('.timeline circle title')].map((title) => title.textContent)";
    tab.until(titles, json!(["ada: weight 5%", "bob: weight 20%"])).await;
    let heights =
        "[...document.querySelectorAll('.timeline circle')].map((mark) => Number(mark.getAttribute('cy')))";
    let heights = tab.evaluate(heights).await;
    assert!(heights[0].as_f64() > heights[1].as_f64(), "a larger weight is higher: {heights}");
    let places =
        "[...document.querySelectorAll('.timeline circle')].map((mark) => Number(mark.getAttribute('cx')))";
    let places = tab.evaluate(places).await;
    assert!(places[0].as_f64() < places[1].as_f64(), "time goes to the right: {places}");
}

#[tokio::test]
async fn failures_over_time_have_a_line_for_each_version_with_the_changes_and_the_hold() {
    let mut release = view("shop/shop", 80, 20);
    let ago = |minutes: i64| release.at - jiff::SignedDuration::from_mins(minutes);
    let count = |responses, failed| ResponseCount { responses, failed };
    let interval = |from: i64, to: i64, failed| FailureInterval {
        from: ago(from),
        to: ago(to),
        canary: count(100, failed),
        stable: count(400, 0),
    };
    release.failures = vec![interval(20, 10, 0), interval(10, 0, 8)];
    let entry = |minutes, text: &str| HistoryView {
        at: ago(minutes),
        weight: "5%".parse().unwrap(),
        text: text.to_owned(),
    };
    release.history = vec![entry(15, "ada: rollout 1% -> 5%"), entry(60, "ada: before the rollout")];
    release.rollout = Some(RolloutProgress {
        summary: "v2 by plan `default`".to_owned(),
        phase: Some("held".to_owned()),
        reason: Some("5xx".to_owned()),
        held_since: Some(ago(5)),
        steps: Vec::new(),
        evidence: Vec::new(),
    });
    let dashboard = Dashboard::start([release]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    let titles = |of: &str| {
        format!(
            "[...document.querySelectorAll('.failures {of} title')].map((title) => title.textContent.split(',')[0])"
        )
    };
    let canary = json!(["canary: 0 of 100 failed (0.0%)", "canary: 8 of 100 failed (8.0%)"]);
    tab.until(&titles(".canary"), canary).await;
    let stable = json!(["stable: 0 of 400 failed (0.0%)", "stable: 0 of 400 failed (0.0%)"]);
    assert_eq!(tab.evaluate(&titles(".stable")).await, stable);
    assert_eq!(tab.evaluate(&titles(".change")).await, json!(["ada: rollout 1% -> 5%"]), "that of its time");
    let held = "(() => { const held = document.querySelector('.failures .held'); return held.getAttribute('width') / 464; })()";
    let held = tab.evaluate(held).await.as_f64().unwrap();
    assert!((0.24..0.26).contains(&held), "5 of 20 minutes are {held}");
}

#[tokio::test]
async fn two_hundred_releases_stay_usable_by_keyboard_and_the_page_is_small() {
    let names = (0..200).map(|at| view(&format!("shop/release-{at}"), 80, 20));
    let dashboard = Dashboard::start(names);
    let mut tab = Tab::open().await;
    let begun = Instant::now();
    tab.goto(&dashboard.list_url()).await;
    tab.until("document.querySelectorAll('tbody tr').length", 200).await;
    println!("200 releases are listed after {:?}", begun.elapsed());
    tab.evaluate("document.getElementById('filter').focus()").await;
    for letter in ["1", "9", "9"] {
        tab.press(letter, letter).await;
    }
    tab.until("document.querySelectorAll('tbody tr').length", 1).await;
    tab.press("Tab", "").await;
    assert_eq!(tab.evaluate("document.activeElement.innerText").await, json!("shop/release-199"));
    tab.press("Enter", "\r").await;
    tab.until("document.getElementById('title').innerText", "shop/release-199").await;
    tab.until(CANARY_DOTS, 40).await;
    let bytes = "performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)";
    let bytes = tab.evaluate(bytes).await.as_u64().unwrap();
    println!("the page has loaded {bytes} bytes");
    assert!((10_000..200_000).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn it_fits_a_phone_and_its_text_has_contrast_in_light_and_dark() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    let phone = json!({"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true});
    tab.call("Emulation.setDeviceMetricsOverride", &phone).await;
    for scheme in ["light", "dark"] {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        tab.call("Emulation.setEmulatedMedia", &media).await;
        tab.goto(&dashboard.url("shop/shop")).await;
        tab.until(CANARY_DOTS, 40).await;
        assert_eq!(tab.evaluate("document.documentElement.scrollWidth").await, json!(360), "{scheme}");
        // WCAG 2.2, 1.4.3 (text) and 1.4.11 (graphics).
        for (colour, ground, least) in [
            ("--text", "--ground", 7.0),
            ("--muted", "--panel", 4.5),
            ("--bad", "--panel", 4.5),
            ("--good", "--panel", 4.5),
            ("--stable", "--panel", 3.0),
            ("--canary", "--panel", 3.0),
            ("--draining", "--panel", 3.0),
        ] {
            let ratio = tab.evaluate(&contrast(colour, ground)).await.as_f64().unwrap();
            assert!(ratio >= least, "{scheme}: {colour} on {ground} has {ratio}");
        }
    }
}

/// The contrast of two colours of the style sheet (WCAG 2.2, "relative luminance").
fn contrast(one: &str, other: &str) -> String {
    format!(
        "(() => {{ const style = getComputedStyle(document.documentElement);
        const luminance = (name) => {{
            const hex = style.getPropertyValue(name).trim().slice(1);
            const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
                .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        }};
        const [low, high] = [luminance('{one}'), luminance('{other}')].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05); }})()"
    )
}
