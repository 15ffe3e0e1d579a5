//! What each receiver is sent, byte by byte: `golden/`. `UPDATE_GOLDEN=1` writes the files anew.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use canary_release::alert::{
    Alert, AlertKind, AlertMessage, AlertStep, KindCounts, VersionCount, kubernetes_event,
};
use canary_release::evidence::FailureKind;
use canary_release::hook::HookPayload;
use canary_release::spec::{AlertFormat, HookType, ReleaseName};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const KINDS: [AlertKind; 16] = [
    AlertKind::Started,
    AlertKind::Step,
    AlertKind::Gate,
    AlertKind::Suspended,
    AlertKind::Resumed,
    AlertKind::Stalled,
    AlertKind::Failed,
    AlertKind::HeldTooLong,
    AlertKind::Deadline,
    AlertKind::Aborted,
    AlertKind::Promoted,
    AlertKind::RolledBack,
    AlertKind::Stopped,
    AlertKind::Completed,
    AlertKind::Observed,
    AlertKind::Test,
];
const FORMATS: [AlertFormat; 5] = [
    AlertFormat::Slack,
    AlertFormat::Discord,
    AlertFormat::Teams,
    AlertFormat::Webhook,
    AlertFormat::CloudEvents,
];

fn release() -> ReleaseName {
    "shop/shop".parse().unwrap()
}

fn alert(kind: AlertKind) -> Alert {
    let count = |user_groups, responses, failed| VersionCount { user_groups, responses, failed };
    Alert {
        id: "shopshopshop-1763654400-4".to_owned(),
        kind,
        at: "2026-11-20T16:04:10.5Z".parse().unwrap(),
        canary: "v2".to_owned(),
        stable: Some("v1".to_owned()),
        plan: "default".to_owned(),
        step: Some(AlertStep { number: 2, of: 5 }),
        weight: "5".parse().unwrap(),
        reason: "5xx: canary 3.12% of 160 responses, stable 0.00% of 1440: 748 times likelier if the canary is worse \
                 (rollback at 40); the canary is rolled back"
            .to_owned(),
        counts: vec![
            KindCounts {
                release: None,
                kind: FailureKind::ServerErrors,
                canary: count(14, 160, 5),
                stable: count(16, 1440, 0),
            },
            KindCounts { release: None, kind: FailureKind::Unanswered, canary: count(14, 162, 0), stable: count(0, 0, 0) },
        ],
    }
}

/// Compares with a file; writes it where that was asked for.
fn golden(name: &str, found: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/alert_payloads/golden").join(name);
    let text = serde_json::to_string_pretty(found).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(text, expected, "{name}");
}

#[test]
fn each_format_is_as_its_receiver_reads_it() {
    let (release, alert) = (release(), alert(AlertKind::Failed));
    let message = AlertMessage { release: &release, alert: &alert };
    for format in FORMATS {
        golden(&format!("{format}.json"), &message.payload(format).body);
    }
    golden("event.json", &kubernetes_event(message, Some("0a1b2c3d")));
    assert_eq!(
        message.payload(AlertFormat::CloudEvents).content_type,
        "application/cloudevents+json; charset=utf-8"
    );
    assert_eq!(message.payload(AlertFormat::Slack).content_type, "application/json");
}

#[test]
fn what_was_counted_of_another_release_of_the_train_has_its_name() {
    let (release, mut alert) = (release(), alert(AlertKind::Failed));
    let own = alert.counts[0].clone();
    alert.counts.push(KindCounts { release: "shop/api".parse().ok(), ..own });
    let message = AlertMessage { release: &release, alert: &alert };
    let webhook = message.payload(AlertFormat::Webhook).body;
    assert_eq!(
        (&webhook["counts"][0]["release"], &webhook["counts"][2]["release"]),
        (&Value::Null, &json!("shop/api"))
    );
    for format in [AlertFormat::Slack, AlertFormat::Discord, AlertFormat::Teams] {
        let text = message.payload(format).body.to_string();
        for name in ["v2, 5xx", "shop/api canary, 5xx", "shop/api stable, 5xx"] {
            assert!(text.contains(name), "{format}: no {name} in {text}");
        }
    }
}

#[test]
fn a_hook_is_sent_flaggers_payload_and_the_metadata_of_its_file_hide_no_part_of_an_event() {
    let (release, failed, ended) = (release(), alert(AlertKind::Failed), alert(AlertKind::RolledBack));
    let metadata = [("environment", "test"), ("eventType", "Normal")];
    let metadata: BTreeMap<String, String> =
        metadata.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let payload = |alert, hook| {
        let message = AlertMessage { release: &release, alert };
        serde_json::to_value(HookPayload::of_alert(message, hook).with_metadata(&metadata)).unwrap()
    };
    let event = payload(&failed, HookType::Event);
    let ended = payload(&ended, HookType::PostRollout);
    assert_eq!(event["checksum"], ended["checksum"], "the same for all calls of a rollout");
    golden("hooks.json", &json!({"event": event, "post-rollout": ended}));
}

#[test]
fn each_transition_has_a_title_and_no_two_the_same() {
    let release = release();
    let titles: Vec<Value> = KINDS
        .into_iter()
        .map(|kind| {
            let alert = alert(kind);
            let message = AlertMessage { release: &release, alert: &alert };
            format!("{} {}: {}", kind.severity(), kind.as_str(), message.title()).into()
        })
        .collect();
    golden("titles.json", &Value::Array(titles));
}

/// Text that others choose: user names, and messages of an API server.
#[test]
fn no_text_calls_people_or_is_longer_than_a_receiver_takes() {
    let release = release();
    let long = "x".repeat(300);
    let alert = Alert {
        reason: "<!channel> & @everyone <https://evil.example|click>".to_owned(),
        canary: long.clone(),
        ..alert(AlertKind::Suspended)
    };
    let message = AlertMessage { release: &release, alert: &alert };
    let slack = message.payload(AlertFormat::Slack).body;
    assert!(!slack.to_string().contains("<!channel>"), "{slack}");
    assert!(
        slack["blocks"][1]["text"]["text"].as_str().unwrap().starts_with("&lt;!channel&gt; &amp; @everyone")
    );
    assert!(slack["blocks"][0]["text"]["text"].as_str().unwrap().chars().count() <= 150);
    let discord = message.payload(AlertFormat::Discord).body;
    assert_eq!(discord["allowed_mentions"]["parse"], serde_json::json!([]), "Discord calls nobody");
    assert!(discord["embeds"][0]["title"].as_str().unwrap().chars().count() <= 256);
    let event = kubernetes_event(
        AlertMessage { release: &release, alert: &Alert { reason: "é".repeat(600), ..alert.clone() } },
        None,
    );
    assert!(event["note"].as_str().unwrap().len() <= 1_024, "Kubernetes refuses a longer note");
}
