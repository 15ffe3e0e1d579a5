use super::*;
use crate::alert::AlertKind;
use crate::spec::AlertSeverity;

fn receiver(name: &str, severity: AlertSeverity) -> AlertReceiver {
    AlertReceiver { name: name.to_owned(), severity }
}

fn alert(number: usize, kind: AlertKind) -> Alert {
    Alert { kind, ..Alert::test(format!("uid-1-{number}"), "v2", start()) }
}

fn start() -> Timestamp {
    "2026-11-20T16:00:00Z".parse().unwrap()
}

fn at(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// The keys of what is claimed at a moment, without those of the API server.
fn claim(outbox: &mut AlertOutbox, seconds: i64) -> Vec<String> {
    let due = outbox.claim(at(seconds), |_, to| *to == Recipient::Events);
    due.iter().map(|due| format!("{} {}", due.to.name(), due.alert.id)).collect()
}

fn outbox(kinds: &[AlertKind]) -> AlertOutbox {
    let mut outbox = AlertOutbox::default();
    for (index, kind) in kinds.iter().enumerate() {
        outbox.push(alert(index + 1, *kind), &[receiver("team", AlertSeverity::Info)], &[]);
    }
    outbox
}

#[test]
fn what_was_claimed_is_claimed_again_after_its_backoff_under_the_same_id_and_five_times_at_most() {
    let mut outbox = outbox(&[AlertKind::Started]);
    let mut claimed = Vec::new();
    for seconds in 0..3_600 {
        claimed.extend(claim(&mut outbox, seconds).into_iter().map(|key| (seconds, key)));
        assert_eq!(
            outbox.has("uid-1-1", "team"),
            seconds < 930,
            "the last one has its time, too: {seconds} s"
        );
    }
    let expected = [0, 30, 90, 210, 450].map(|seconds| (seconds, "team uid-1-1".to_owned()));
    assert_eq!(claimed, expected);
    let reason = outbox.undelivered().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(reason, ["alert uid-1-1 did not reach team: it was sent 5 times without success"]);
    assert!(!outbox.has("uid-1-1", "team"), "it was given up");
    assert!(outbox.has("uid-1-1", EVENTS), "others are left alone");
}

#[test]
fn what_was_confirmed_is_sent_no_more_and_an_alert_that_everybody_has_is_gone() {
    let mut outbox = outbox(&[AlertKind::Started]);
    assert_eq!(claim(&mut outbox, 0), ["team uid-1-1"]);
    assert!(outbox.confirm("uid-1-1", "team"));
    assert!(!outbox.confirm("uid-1-1", "team"), "a second time changes nothing");
    assert_eq!(claim(&mut outbox, 3_000), [""; 0]);
    assert!(outbox.confirm("uid-1-1", EVENTS));
    assert!(outbox.is_empty(), "{outbox:?}");
}

#[test]
fn a_receiver_gets_its_alerts_in_their_order() {
    let mut outbox = outbox(&[AlertKind::Started, AlertKind::Step]);
    assert_eq!(claim(&mut outbox, 0), ["team uid-1-1", "team uid-1-2"], "those that are new at once");
    outbox.push(alert(3, AlertKind::Promoted), &[receiver("team", AlertSeverity::Info)], &[]);
    assert_eq!(claim(&mut outbox, 10), [""; 0], "the first one is on its way");
    assert_eq!(claim(&mut outbox, 30), ["team uid-1-1"], "one that was tried goes alone");
    outbox.confirm("uid-1-1", "team");
    assert_eq!(claim(&mut outbox, 31), ["team uid-1-2"]);
    outbox.confirm("uid-1-2", "team");
    assert_eq!(claim(&mut outbox, 32), ["team uid-1-3"]);
}

#[test]
fn a_receiver_is_told_what_is_as_severe_as_it_wants() {
    let kinds = [AlertKind::Started, AlertKind::Gate, AlertKind::Failed];
    let told = |severity| {
        let mut outbox = AlertOutbox::default();
        for (index, kind) in kinds.into_iter().enumerate() {
            outbox.push(alert(index + 1, kind), &[receiver("team", severity)], &[]);
        }
        assert!(outbox.has("uid-1-1", EVENTS), "the API server gets all of them");
        claim(&mut outbox, 0).len()
    };
    assert_eq!([AlertSeverity::Info, AlertSeverity::Warning, AlertSeverity::Error].map(told), [3, 2, 1]);
}

#[test]
fn for_a_receiver_that_is_down_the_oldest_alerts_are_given_up_and_the_record_stays_small() {
    let outbox = outbox(&[AlertKind::Step; 100]);
    assert_eq!(outbox.pending().len(), MAX_PENDING);
    assert_eq!(outbox.pending()[0].alert.id, "uid-1-69");
    assert_eq!(outbox.undelivered().len(), MAX_UNDELIVERED);
    assert!(serde_json::to_string(&outbox).unwrap().len() < 40_000);
}

#[test]
fn a_claim_of_a_clock_that_was_hours_ahead_holds_nothing_back() {
    let mut outbox = outbox(&[AlertKind::Started]);
    assert_eq!(claim(&mut outbox, 36_000), ["team uid-1-1"]);
    assert_eq!(claim(&mut outbox, 0), ["team uid-1-1"]);
}

#[test]
fn what_is_on_its_way_is_not_given_up_and_what_was_given_up_is_noted_once() {
    let mut outbox = outbox(&[AlertKind::Started]);
    for seconds in [0, 30, 90, 210, 450] {
        assert_eq!(claim(&mut outbox, seconds).len(), 1, "{seconds} s");
    }
    assert_eq!(outbox.claim(at(10_000), |_, _| true), [], "a driver waits for its response");
    assert!(outbox.has("uid-1-1", "team"));
    let given_up = [0, 1].map(|_| outbox.give_up("uid-1-1", "team", "404\nNot Found"));
    assert_eq!((given_up, outbox.undelivered().len()), ([true, false], 1));
    assert_eq!(outbox.undelivered()[0].reason, "404 Not Found", "in one line");
}

#[test]
fn a_reason_is_cut_where_it_is_too_long() {
    let reason = Alert::bounded(&"é".repeat(601));
    assert_eq!((reason.chars().count(), reason.chars().last()), (601, Some('…')));
    assert_eq!(Alert::bounded(&"é".repeat(600)), "é".repeat(600));
}

#[test]
fn an_outbox_is_read_as_it_was_written() {
    let mut outbox = outbox(&[AlertKind::Failed, AlertKind::RolledBack]);
    claim(&mut outbox, 0);
    outbox.give_up("uid-1-1", "team", "404 Not Found");
    let json = serde_json::to_string(&outbox).unwrap();
    assert_eq!(serde_json::from_str::<AlertOutbox>(&json).unwrap(), outbox, "{json}");
}
