//! What a person changes, and what it takes until something is changed.

use crate::server::{Dashboard, view};
use std::time::Duration;
use wasm_tests::chromium::Tab;

const TEXT: &str = "document.getElementById('dialog-heading')?.parentElement.open === true && document.querySelector('dialog').innerText";
const RESULT: &str = "document.getElementById('change-result').innerText";

/// Opens the page, types a weight and presses Enter.
async fn ask_for(tab: &mut Tab, dashboard: &Dashboard, weight: &str) {
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until("document.getElementById('new-weight') !== null", true).await;
    tab.evaluate("document.getElementById('new-weight').focus()").await;
    for digit in weight.chars() {
        tab.press(&digit.to_string(), &digit.to_string()).await;
    }
    tab.press("Enter", "\r").await;
    tab.until(&format!("({TEXT} || '').includes('0% -> {weight}%')"), true).await;
}

#[tokio::test]
async fn a_weight_is_shown_first_and_written_when_it_is_confirmed() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let (before, generation) = dashboard.state("shop/shop");
    let mut tab = Tab::open().await;
    ask_for(&mut tab, &dashboard, "30").await;
    assert_eq!(dashboard.state("shop/shop"), (before, generation), "what is shown is not written");
    tab.evaluate("document.getElementById('confirm').focus()").await;
    tab.press("Enter", "\r").await;
    tab.until(&format!("{RESULT}.includes('-> 30%')"), true).await;
    assert_eq!(dashboard.state("shop/shop"), ("30%".to_owned(), generation + 1));
    // The page shows it at once, and the next change is of the new generation.
    tab.until(&format!("document.body.innerText.includes('Generation {}')", generation + 1), true).await;
}

#[tokio::test]
async fn escape_and_the_focused_button_of_the_dialog_change_nothing() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let before = dashboard.state("shop/shop");
    for key in [("Escape", ""), ("Enter", "\r")] {
        let mut tab = Tab::open().await;
        ask_for(&mut tab, &dashboard, "30").await;
        tab.press(key.0, key.1).await;
        tab.until("document.querySelector('dialog').open", false).await;
        // A change would be under way by then.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(dashboard.state("shop/shop"), before, "{key:?}");
        assert_eq!(tab.evaluate(RESULT).await, serde_json::json!(""), "{key:?}");
    }
}

#[tokio::test]
async fn a_release_that_has_changed_meanwhile_is_left_as_it_is() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    ask_for(&mut tab, &dashboard, "30").await;
    let mut other = view("shop/shop", 80, 20);
    other.generation += 5;
    dashboard.set(other.clone());
    tab.evaluate("document.getElementById('confirm').click()").await;
    tab.until(&format!("{RESULT}.includes('expected another generation')"), true).await;
    assert_eq!(dashboard.state("shop/shop").1, other.generation);
}

#[tokio::test]
async fn a_refusal_says_why_and_what_helps_and_asks_nothing() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until("document.getElementById('change-pause') !== null", true).await;
    tab.evaluate("document.getElementById('change-pause').click()").await;
    tab.until(&format!("{RESULT}.includes('bob has paused it') && {RESULT}.includes('ask bob')"), true).await;
    assert_eq!(tab.evaluate("document.querySelector('dialog').open").await, serde_json::json!(false));
}

#[tokio::test]
async fn a_page_without_changes_has_no_buttons() {
    let mut none = view("shop/shop", 80, 20);
    none.changes = Vec::new();
    let dashboard = Dashboard::start([none]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until("document.querySelectorAll('.dot.canary').length", 40).await;
    assert_eq!(tab.evaluate("document.querySelectorAll('button').length").await, serde_json::json!(0));
    assert_eq!(
        tab.evaluate("document.getElementById('change').checkVisibility()").await,
        serde_json::json!(false)
    );
}
