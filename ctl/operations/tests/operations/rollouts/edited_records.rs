//! Records that a user has edited who may write ConfigMaps beside the release, and nothing else: they choose neither what a driver asks with
//! its token, nor to whom it posts, nor which Secrets it reads.

use super::alerts::create_secret;
use super::metrics::{self, FakePrometheus};
use super::receiver::{Receiver, TestSender};
use super::{Canary, MANY, RolloutFixture, rollout};
use canary_release::alert::RolloutResult;
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::{edit_record, release, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const REVENUE: &str = "sum(revenue{namespace=\"payments\"})";

/// The queries of the file, for both versions.
fn of_file() -> BTreeSet<String> {
    ["v1", "v2"].map(|version| format!("latency{{version=\"{version}\"}}")).into()
}

fn asked(prometheus: &FakePrometheus) -> BTreeSet<String> {
    prometheus.asked().into_iter().collect()
}

#[test]
fn a_query_in_the_record_is_not_asked_and_that_of_the_file_is() {
    run(async {
        let mut fixture = metrics::started().await;
        let prometheus = FakePrometheus::with_latency(110.0);
        edit_record(&fixture.api, |record| record["rollout"]["metrics"][0]["query"] = json!(REVENUE));
        let report = metrics::drive(&mut fixture, &prometheus, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        assert_eq!(asked(&prometheus), of_file());
    });
}

#[test]
fn a_metric_that_the_record_alone_has_asks_nothing_and_holds_the_rollout() {
    run(async {
        let mut fixture = metrics::started().await;
        let prometheus = FakePrometheus::with_latency(110.0);
        edit_record(&fixture.api, |record| {
            let metric = json!({"name": "revenue", "query": REVENUE, "interval": 30, "failureThreshold": 1, "canary": {"max": 0}});
            record["rollout"]["metrics"].as_array_mut().unwrap().push(metric);
        });
        let report = metrics::drive(&mut fixture, &prometheus, 20).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        let reason = "metric `revenue`: no result, 1 of 1 times in a row: expected metric `revenue` in the driver's file, found none";
        assert_eq!(report.decision.reason, reason);
        assert_eq!(report.record.state.weight.to_string(), "1%", "the weight stays");
        assert_eq!(asked(&prometheus), of_file());
    });
}

/// Adds an old delivery to the first alert: to a receiver whose URL is in this place.
fn add_delivery(record: &mut Value, name: &str, url_from: &Value) {
    let receiver = json!({"name": name, "type": "webhook", "severity": "info", "urlFrom": url_from});
    let deliveries = record["alerts"]["pending"][0]["deliveries"].as_array_mut().unwrap();
    deliveries.retain(|delivery| delivery["to"]["receiver"]["name"] != name);
    deliveries.push(json!({"to": {"receiver": receiver}, "attempts": 0}));
}

#[test]
fn a_receiver_in_the_record_is_sent_nothing_and_those_of_the_file_get_their_alerts() {
    run(async {
        let (team, pager) = (Receiver::start().await, Receiver::start().await);
        let file = json!([{"name": "team", "type": "webhook", "url": team.url().expose()}]);
        let release = release(&json!({"rollout": rollout(&json!({"alerts": file}))}));
        let fixture = RolloutFixture::started_as(Canary::Good, &release).await;
        create_secret(&fixture, "pagerduty", "url", pager.url().expose());
        let place = json!({"secret": {"name": "pagerduty", "key": "url"}});
        edit_record(&fixture.api, |record| {
            record["rollout"]["alerts"]["receivers"][0]["type"] = json!("webhook");
            record["rollout"]["alerts"]["receivers"][0]["urlFrom"] = place.clone();
            for name in ["team", "pager"] {
                add_delivery(record, name, &place);
            }
        });
        fixture.api.count_requests();
        let mut driver = fixture.driver(&fixture.cluster).with_alerts(TestSender::of_file(&release));
        driver.reconcile(fixture.now).await.unwrap();
        driver.settle_alerts().await;
        driver.deliver_alerts(fixture.now).await.unwrap();
        assert_eq!(pager.received(), [""; 0], "the file does not name it");
        assert_eq!(team.kinds(), ["started", "step"]);
        let requests = fixture.api.state().requests.clone();
        assert!(requests.iter().all(|line| !line.contains("/secrets/pagerduty")), "{requests:?}");
        let undelivered = fixture.record().await.alerts.undelivered().to_vec();
        let [given_up] = &undelivered[..] else { panic!("{undelivered:?}") };
        let reason = "did not reach pager: expected receiver `pager` in the driver's file, found none";
        assert!(given_up.to_string().ends_with(reason), "{given_up}");
        let told: Vec<String> = driver.failed_deliveries().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "the driver says it once: {told:?}");
    });
}
