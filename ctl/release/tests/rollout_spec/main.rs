//! `spec.rollout` of a `canary.yaml`: plans, defaults, and every fault with its line and column.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod dependencies;
mod hooks;
mod time;
mod trains;
mod windows;

use canary_release::file;
use canary_release::spec::{
    AlertFormat, AlertReceiver, AlertSeverity, FailureAction, FiniteNumber, Gate, LatencyPercentile,
    MetricBounds, MetricQuery, Percentage, RolloutMetric, RolloutPolicy, RolloutSpec, RolloutStep,
    SecretSource, SecretUrl, SuccessAction,
};
use std::path::Path;

const HEAD: &str = "\
apiVersion: canary-ctl.io/v1alpha1
kind: Release
metadata: {name: shop, namespace: shop}
spec:
  versions: {stable: v1, canary: v2}
  hosts: [shop.example.com]
  gateways: [{name: shop/shop, selector: {app: gateway}}]
  stickiness: session
  session: {cookie: SESSIONID}
  identifyBy: [{cookie: SESSIONID}]
  delivery: {mode: envoyfilter, module: \"oci://registry.example.com/filter:1\"}
";

fn parse(rollout: &str) -> Result<RolloutSpec, String> {
    let text = format!("{HEAD}{rollout}");
    let document = file::parse(Path::new("canary.yaml"), &text);
    document.map(|document| document.release.rollout).map_err(|error| error.to_string())
}

/// The faults of a rollout, one a line, without their hints.
fn faults(rollout: &str) -> Vec<String> {
    let error = parse(rollout).err().unwrap_or_else(|| panic!("{rollout} is accepted"));
    error.lines().filter(|line| line.starts_with("canary.yaml:")).map(str::to_owned).collect()
}

fn step(percent: &str, hold: &str, gate: Gate) -> RolloutStep {
    RolloutStep { weight: percent.parse().unwrap(), hold: hold.parse().unwrap(), gate, min_responses: None }
}

#[test]
fn a_release_that_says_nothing_has_the_default_plan() {
    let found = parse("").unwrap();
    let weights: Vec<String> = found.plans["default"].iter().map(|step| step.weight.to_string()).collect();
    assert_eq!(weights, ["1%", "5%", "10%", "25%", "50%"]);
    assert!(found.plans["default"].iter().all(|step| step.hold.get() == 600 && step.gate == Gate::Evidence));
    assert_eq!(found.policy, RolloutPolicy { lost_sessions: true, ..RolloutPolicy::default() });
    assert_eq!(found.policy.false_alarm, Percentage::from_basis_points(500));
    assert_eq!(found, parse("  rollout:\n    observe: false\n").unwrap());
}

#[test]
fn every_field_is_read() {
    let found = parse(
        "  rollout:
    plans:
      blue-green:
        - {weight: 0, hold: 1m, gate: manual}
        - {weight: 100, gate: manual}
      slow:
        - weight: 0.5
          hold: 2h
          minResponses: 50
        - weight: 100
    falseAlarm: 1%
    maxErrors: 0.5%
    minResponses: 3000
    clientErrors: true
    lostSessions: false
    slowerThan: 250ms
    maxPodRestarts: 0
    onFailure: stop
    onSuccess: wait
    deadline: 3d
    maxHeld: 45m
    expiresIn: 30m
    stalledAfter: 5m
    observe: true
",
    )
    .unwrap();
    assert_eq!(found.plans["blue-green"], [step("0", "1m", Gate::Manual), step("100", "10m", Gate::Manual)]);
    let few = RolloutStep { min_responses: Some(50), ..step("0.5", "2h", Gate::Evidence) };
    assert_eq!(found.plans["slow"], [few, step("100", "10m", Gate::Evidence)]);
    assert_eq!(found.plans["default"].len(), 5, "the default plan is there beside others");
    let policy = RolloutPolicy {
        false_alarm: Percentage::from_basis_points(100),
        max_errors: Some(Percentage::from_basis_points(50)),
        min_responses: 3_000,
        client_errors: true,
        lost_sessions: false,
        slower_than: Some("250ms".parse().unwrap()),
        max_pod_restarts: 0,
        on_failure: FailureAction::Stop,
        on_success: SuccessAction::Wait,
        deadline: "3d".parse().unwrap(),
        max_held: Some("45m".parse().unwrap()),
        expires_in: "30m".parse().unwrap(),
        stalled_after: "5m".parse().unwrap(),
        observe: true,
    };
    assert_eq!(found.policy, policy);
}

#[test]
fn a_percentile_of_stable_is_no_time_yet_and_needs_the_histogram() {
    let found = parse("  latencyHistogram: true\n  rollout:\n    slowerThan: p95\n").unwrap();
    assert_eq!((found.slower_than_of_stable, found.policy.slower_than), (Some(LatencyPercentile::P95), None));
    let expected = "canary.yaml:13:17: expected `latencyHistogram: true` beside `p95`, found none";
    assert_eq!(faults("  rollout:\n    slowerThan: p95\n"), [expected]);
}

#[test]
fn lost_sessions_are_failures_where_sessions_are_pinned_by_a_cookie_unless_the_file_says_otherwise() {
    let file = |users: &str, rollout: &str| {
        let text = HEAD.replace("  stickiness: session\n  session: {cookie: SESSIONID}\n", users);
        let document = file::parse(Path::new("canary.yaml"), &format!("{text}{rollout}"));
        document
            .map(|document| document.release.rollout.policy.lost_sessions)
            .map_err(|error| error.to_string())
    };
    let (pinned, no_cookie) =
        ("  stickiness: session\n  session: {cookie: SESSIONID}\n", "  stickiness: session\n");
    let by_user = "  stickiness: user\n  session: {cookie: SESSIONID}\n";
    let (unsaid, yes, no) =
        ("", "  rollout:\n    lostSessions: true\n", "  rollout:\n    lostSessions: false\n");
    let other = "  rollout:\n    observe: false\n";
    for (users, rollout, expected) in [
        (pinned, unsaid, true),
        (pinned, other, true),
        (pinned, yes, true),
        (pinned, no, false),
        (by_user, unsaid, false),
        (by_user, other, false),
        (by_user, yes, true),
        (no_cookie, unsaid, false),
        (no_cookie, no, false),
    ] {
        assert_eq!(file(users, rollout), Ok(expected), "{users}{rollout}");
    }
    let refused = file(no_cookie, yes).unwrap_err();
    let fault = "canary.yaml:12:19: expected `spec.session.cookie` beside `lostSessions: true`, found none";
    assert!(refused.contains(fault), "{refused}");
    assert!(refused.contains("hint: name the session cookie of the application"), "{refused}");
}

#[test]
fn a_wrong_value_is_a_fault_at_its_place() {
    let found = faults(
        "  rollout:
    falseAlarm: 0
    minResponses: 0
    maxErrors: 200%
    slowerThan: 250
    onFailure: zero
    expiresIn: 5s
    minAnswers: 300
",
    );
    assert_eq!(
        found,
        [
            "canary.yaml:13:17: expected more than 0 and at most 50%, found `0`",
            "canary.yaml:14:19: expected at least 1, found `0`",
            "canary.yaml:15:16: expected a percentage from 0 to 100 in steps of 0.01, like `5%` or `0.1`, found `200%`",
            "canary.yaml:16:17: expected a duration like `500ms` or `2s`, below 1000 s, or `p90`, `p95` or `p99` of stable's responses, found `250`",
            "canary.yaml:17:16: expected `rollback`, `stop` or `hold`, found `zero`",
            "canary.yaml:18:16: expected at least 30s, found `5s`",
            "canary.yaml:19:5: unknown field `spec.rollout.minAnswers`",
        ]
    );
}

#[test]
fn a_hold_whose_end_is_another_hold_is_a_fault() {
    let unsaid = parse("  rollout:\n    maxHeld: 30m\n").unwrap();
    assert_eq!(unsaid.policy.max_held, Some("30m".parse().unwrap()));
    assert_eq!(parse("  rollout:\n    onFailure: hold\n").unwrap().policy.max_held, None);
    let expected = "canary.yaml:14:14: expected `onFailure: rollback` or `onFailure: stop` beside `maxHeld`, found `hold`";
    assert_eq!(faults("  rollout:\n    onFailure: hold\n    maxHeld: 30m\n"), [expected]);
}

#[test]
fn a_plan_raises_the_weight_with_each_step() {
    let found =
        faults("  rollout:\n    plans:\n      default:\n        - {weight: 10}\n        - {weight: 10}\n");
    assert_eq!(found, ["canary.yaml:16:11: expected a weight above the 10% of the step before, found 10%"]);
    let found =
        faults("  rollout:\n    plans:\n      Fast:\n        - {weight: 10, hodl: 5m}\n      none: []\n");
    assert_eq!(
        found,
        [
            "canary.yaml:14:7: expected 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit, found `Fast`",
            "canary.yaml:15:24: unknown field `spec.rollout.plans.Fast[0].hodl`",
            "canary.yaml:16:13: expected 1 to 50 steps, found 0",
        ]
    );
}

#[test]
fn a_step_that_no_evidence_can_pass_needs_a_gate() {
    let plan = |steps: &str| format!("  rollout:\n    plans:\n      default: [{steps}]\n");
    let found = faults(&plan("{weight: 0}, {weight: 100}"));
    assert_eq!(
        found,
        [
            "canary.yaml:14:17: expected `gate: manual` in a step without users of the canary, found none",
            "canary.yaml:14:30: expected `gate: manual` or `maxErrors` in a step at 100%, found neither",
        ]
    );
    let gated = parse(&plan("{weight: 0, gate: manual}, {weight: 100, gate: manual}"));
    assert!(gated.is_ok(), "{gated:?}");
}

#[test]
fn receivers_of_alerts_are_read_and_what_is_recorded_of_them_says_not_how_they_are_reached() {
    let spec = parse(
        "  rollout:
    alerts:
      - {name: team, type: slack, url: \"https://hooks.slack.example/T0/secret\"}
      - {name: chat, type: discord, urlFrom: {env: DISCORD_URL}, severity: warning}
      - {name: office, type: teams, urlFrom: {file: /run/secrets/teams}, severity: error}
      - {name: ops, type: webhook, urlFrom: {secret: {name: canary-alerts, key: ops.url}}, severity: info}
      - {name: bus, type: cloudevents, url: \"http://events.shop.svc:8080/\"}
",
    )
    .unwrap();
    let severities = [
        ("team", AlertSeverity::Info),
        ("chat", AlertSeverity::Warning),
        ("office", AlertSeverity::Error),
        ("ops", AlertSeverity::Info),
        ("bus", AlertSeverity::Info),
    ];
    let receiver = |(name, severity): (&str, _)| AlertReceiver { name: name.to_owned(), severity };
    assert_eq!(spec.alerts.receivers, severities.map(receiver));
    let secret = SecretSource::Secret { name: "canary-alerts".to_owned(), key: "ops.url".to_owned() };
    for (name, format, url_from) in [
        ("team", AlertFormat::Slack, SecretSource::Inline),
        ("chat", AlertFormat::Discord, SecretSource::Env("DISCORD_URL".to_owned())),
        ("office", AlertFormat::Teams, SecretSource::File("/run/secrets/teams".into())),
        ("ops", AlertFormat::Webhook, secret),
        ("bus", AlertFormat::CloudEvents, SecretSource::Inline),
    ] {
        let endpoint = &spec.alerts.endpoints[name];
        assert_eq!((endpoint.format, &endpoint.url_from), (format, &url_from), "{name}");
        assert_eq!(endpoint.url.is_some(), url_from == SecretSource::Inline, "{name}");
    }
    let url = spec.alerts.endpoints["team"].url.as_ref().map(SecretUrl::expose);
    assert_eq!(url, Some("https://hooks.slack.example/T0/secret"));
    assert!(!format!("{spec:?}").contains("T0"), "{spec:?}");
}

#[test]
fn a_fault_of_a_receiver_is_told_at_its_place_and_repeats_nothing_that_may_be_a_url() {
    let found = faults(
        "  rollout:
    alerts:
      - {name: a, type: mail, url: \"https://hooks.example/x\"}
      - {name: b, type: slack, url: \"hooks.example/secret\"}
      - {name: c, type: slack}
      - {name: d, type: slack, url: \"https://hooks.example/secret\", urlFrom: {env: X}}
      - {name: e, type: slack, urlFrom: \"https://hooks.example/secret\"}
      - {name: f, type: slack, urlFrom: {env: \"https://hooks.example/secret\"}}
      - {name: g, type: slack, urlFrom: {file: hooks.example/secret}}
      - {name: h, type: slack, urlFrom: {secret: {name: \"https://hooks.example/secret\"}}}
      - {name: i, type: slack, urlFrom: {env: X, file: /x}}
      - {name: j, type: slack, urlFrom: {env: X}, severity: fatal}
      - {name: j, type: slack, urlFrom: {env: X}}
",
    );
    let expected = [
        "14:25: expected `slack`, `discord`, `teams`, `webhook` or `cloudevents`, found `mail`",
        "15:37: expected a URL without a user that begins with `https://` or `http://`, found another text",
        "16:9: expected `url` or `urlFrom`, found neither",
        "17:9: expected `url` or `urlFrom`, found both",
        "18:41: expected a mapping, found a value",
        "18:41: expected one of `env`, `file` and `secret`, found 0 of them",
        "19:47: expected the name of an environment variable, found another text",
        "20:48: expected an absolute path, found another text",
        "21:50: `spec.rollout.alerts[7].urlFrom.secret.key` is missing",
        "21:57: expected the name of a Secret, found another text",
        "22:41: expected one of `env`, `file` and `secret`, found 2 of them",
        "23:61: expected `info`, `warning` or `error`, found `fatal`",
        "24:9: expected at most 10 receivers, found 11",
        "24:9: expected a receiver of another name, found `j` twice",
    ];
    assert_eq!(found, expected.map(|fault| format!("canary.yaml:{fault}")));
}

const PROMETHEUS: &str = "  rollout:
    prometheus: {address: \"http://prometheus.monitoring:9090/\", bearerTokenFrom: {secret: {name: prometheus, key: token}}}
    metrics:
";

#[test]
fn metrics_are_read_with_values_for_all_variables_but_the_version() {
    let found = parse(&format!(
        "{PROMETHEUS}      - {{name: success-rate, preset: request-success-rate, min: 99}}
      - name: carts
        query: sum(carts{{namespace=\"{{{{ namespace }}}}\", release=\"{{{{release}}}}\", version=\"{{{{ version }}}}\"}}[{{{{ interval }}}}])
        interval: 5m
        failureThreshold: 2
        max: 100
        ratio: {{min: 0.9, max: 1.2}}
        difference: {{min: -5}}
"
    ))
    .unwrap()
    .analysis;
    let server = found.prometheus.unwrap();
    assert_eq!(server.address.to_string(), "http://prometheus.monitoring:9090");
    let token = SecretSource::Secret { name: "prometheus".to_owned(), key: "token".to_owned() };
    assert_eq!(server.bearer_token_from, Some(token));
    let [success, carts] = &found.metrics[..] else { panic!("{:?}", found.metrics) };
    assert_eq!((success.interval.get(), success.failure_threshold), (60, 3));
    let query = &found.queries["success-rate"].template;
    let expected = "destination_service_name=\"shop\",destination_version=\"{{ version }}\"";
    assert!(query.contains(expected) && query.ends_with("[1m])) >= 30))"), "{query}");
    let number = |text: &str| Some(text.parse::<FiniteNumber>().unwrap());
    let bounds = |min, max| MetricBounds { min, max };
    let expected = RolloutMetric {
        name: "carts".to_owned(),
        interval: "5m".parse().unwrap(),
        failure_threshold: 2,
        canary: bounds(None, number("100")),
        ratio: bounds(number("0.9"), number("1.2")),
        difference: bounds(number("-5"), None),
    };
    assert_eq!(*carts, expected);
    let template =
        "sum(carts{namespace=\"shop\", release=\"shop\", version=\"{{ version }}\"}[5m])".to_owned();
    assert_eq!(found.queries["carts"], MetricQuery { template, interval: carts.interval });
}

#[test]
fn a_fault_of_a_metric_is_told_at_its_place() {
    let found = faults(&format!(
        "{PROMETHEUS}      - {{name: a, preset: request-success-rate, query: up, min: 1}}
      - {{name: b, min: 1}}
      - {{name: c, query: \"up{{x='{{{{ target }}}}'}}\", max: 1}}
      - {{name: d, query: up}}
      - {{name: e, query: up, ratio: {{max: 2}}}}
      - {{name: f, query: up, max: 5%, interval: 1s, failureThreshold: 0}}
      - {{name: g, query: up, min: 2, max: 1, quantile: 0.5}}
      - {{name: h, preset: request-success-rate, quantile: 0.5, min: 99}}
      - {{name: h, preset: request-duration, quantile: 1, max: 500}}
      - {{name: i, preset: request-duration, ratio: {{}}}}
"
    ));
    assert_eq!(
        found,
        [
            "canary.yaml:15:9: expected `preset` or `query`, found both",
            "canary.yaml:16:9: expected `preset` or `query`, found neither",
            "canary.yaml:17:26: expected a variable of `namespace`, `release`, `service`, `interval`, `version`, found `target`",
            "canary.yaml:18:9: expected at least one of `min`, `max`, `ratio`, `difference`, found none",
            "canary.yaml:19:9: expected `{{ version }}` in a query whose values are compared, found none",
            "canary.yaml:20:35: expected a number like `99` or `0.5`, found `5%`",
            "canary.yaml:20:49: expected at least 10s, found `1s`",
            "canary.yaml:20:71: expected 1 to 100, found `0`",
            "canary.yaml:21:9: expected `min` of at most `max`, found 2 and 1",
            "canary.yaml:21:56: expected `quantile` beside `preset`, found it beside `query`",
            "canary.yaml:22:9: expected `quantile` beside `preset: request-duration` alone",
            "canary.yaml:23:9: expected a metric of another name, found `h` twice",
            "canary.yaml:23:55: expected more than 0 and less than 1, found `1`",
            "canary.yaml:24:52: expected at least one of `min`, `max`, found none",
        ]
    );
}

#[test]
fn metrics_need_a_server_and_its_address_is_not_repeated_in_a_fault() {
    let found = faults("  rollout:\n    metrics: [{name: a, preset: request-success-rate, min: 99}]\n");
    assert_eq!(
        found,
        ["canary.yaml:13:15: expected `rollout.prometheus` beside `rollout.metrics`, found none"]
    );
    let found = faults(
        "  rollout:\n    prometheus: {address: \"http://ada:secret@prometheus:9090\", bearerTokenFrom: {}}\n",
    );
    assert_eq!(
        found,
        [
            "canary.yaml:13:27: expected a URL without a user, a query and a fragment that begins with `https://` or `http://`, found another text",
            "canary.yaml:13:81: expected one of `env`, `file` and `secret`, found 0 of them",
        ]
    );
}

#[test]
fn a_preset_needs_a_label_that_the_metrics_of_istio_know() {
    let text = format!("{HEAD}{PROMETHEUS}      - {{name: a, preset: request-success-rate, min: 99}}\n");
    let text = text.replace("{stable: v1, canary: v2}", "{label: track, stable: v1, canary: v2}");
    let error = file::parse(Path::new("canary.yaml"), &text).unwrap_err().to_string();
    assert!(error.contains("expected `query` for pods whose `versions.label` is `track`"), "{error}");
}
