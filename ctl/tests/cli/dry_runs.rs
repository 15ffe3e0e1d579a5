//! A dry run ends as the write that it announces: with the same refusal and the same exit code.

use crate::cli_fixture::{CliFixture, CliOutput};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, document, edit_record, promote, release, run, set_weight, shop};
use serde_json::{Value, json};

/// The state of the release in which a line is typed.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing was applied, and no Gateway object exists.
    NoGateway,
    /// Nothing was applied, and stable has no pods.
    NoStablePods,
    /// The canary has 20% of the users; a step may have 50%.
    AtTwenty,
    /// The same, paused by another user.
    Paused,
    /// The same, and no pod of stable is ready.
    StableDown,
    /// The same, and no proxy can be read.
    Silent,
    /// The canary was promoted, and the former version drains.
    Draining,
    /// The same, with a train.
    DrainingTrain,
}

/// The settings of the file in all states.
fn settings(state: State) -> Value {
    let mut settings = json!({"maxStep": 50});
    if matches!(state, State::DrainingTrain) {
        settings["train"] = json!("autumn");
    }
    if matches!(state, State::Draining | State::DrainingTrain) {
        settings["maxStep"] = json!(100);
    }
    settings
}

async fn cluster(state: State) -> FakeApi {
    let api = shop();
    let release = release(&settings(state));
    let operator = api.cluster().await;
    match state {
        State::NoGateway => api.state().store.remove("Gateway", "gateway"),
        State::NoStablePods => api.state().store.remove("Pod", "shop-v1"),
        _ => {
            apply(&operator, &release).await.unwrap();
            set_weight(&operator, &release, "20").await.unwrap();
        }
    }
    match state {
        State::Paused => edit_record(&api, |record| {
            record["paused"] = json!({"by": "ada", "at": "2026-11-24T10:00:00Z", "reason": "p99"});
        }),
        State::StableDown => {
            api.state().store.edit("Pod", "shop-v1", |pod| pod["status"]["conditions"] = json!([]));
        }
        State::Silent => api.state().proxies.silence(),
        State::Draining | State::DrainingTrain => drop(promote(&operator, &release).await.unwrap()),
        _ => {}
    }
    api
}

/// What is typed in which state, and what the refusal names; none for a line that is not refused.
const TABLE: [(State, &str, Option<&str>); 25] = [
    (State::AtTwenty, "promote", Some("max-step")),
    (State::AtTwenty, "promote --train autumn", Some("autumn")),
    (State::AtTwenty, "weight 80", Some("max-step")),
    (State::AtTwenty, "uninstall", Some("moves-users")),
    (State::AtTwenty, "rotate-keys --retire", None),
    (State::AtTwenty, "rollout abort", Some("rollout")),
    (State::NoGateway, "apply", Some("no-gateway")),
    (State::NoStablePods, "apply", Some("no-ready-pods")),
    (State::Paused, "promote", Some("paused")),
    (State::Paused, "weight 30", Some("paused")),
    (State::Paused, "uninstall", Some("paused")),
    (State::Paused, "pause", Some("paused")),
    (State::Paused, "resume", Some("paused")),
    (State::Paused, "rollout start", Some("paused")),
    (State::StableDown, "rollback", Some("no-ready-pods")),
    (State::StableDown, "rollback --skip-check no-ready-pods", None),
    (State::Draining, "promote --finish", Some("moves-users")),
    (State::Draining, "promote --finish --skip-check moves-users", None),
    (State::DrainingTrain, "promote --finish --train autumn", Some("moves-users")),
    (State::AtTwenty, "apply", None),
    (State::Silent, "weight 30 --wait", Some("unseen-proxies")),
    (State::Silent, "weight 30", None),
    (State::Silent, "promote --skip-check max-step", Some("unseen-proxies")),
    (State::Silent, "uninstall --skip-check moves-users", None),
    (State::Silent, "rotate-keys", Some("unseen-proxies")),
];

/// The error and its hint.
fn refusal(ran: &CliOutput) -> (i32, &str) {
    (ran.code, ran.stderr.find("error: ").map_or("", |at| &ran.stderr[at..]))
}

/// What a row of the table shows that it should not.
fn fault((state, line, refused): (State, &str, Option<&str>)) -> Option<String> {
    let mut fault = None;
    run(async {
        let api = cluster(state).await;
        let cli = CliFixture::new();
        std::fs::create_dir(cli.path(".kube")).unwrap();
        cli.write(".kube/config", &api.kubeconfig().await);
        cli.write("canary.yaml", &document(&settings(state)));
        let dry = ["--dry-run", "--dry-run=server"].map(|flag| cli.run(&format!("{line} {flag}")));
        let wet = cli.run(line);
        let is_as_expected = wet.code == refused.map_or(0, |_| 2)
            && wet.stderr.contains(refused.unwrap_or_default())
            && dry.iter().all(|dry| refusal(dry) == refusal(&wet));
        fault = (!is_as_expected).then(|| format!("{state:?}: {line}\n{dry:#?}\n{wet:#?}"));
    });
    fault
}

#[test]
fn a_dry_run_is_refused_as_its_write_is() {
    let mut faults = Vec::new();
    for rows in TABLE.chunks(10) {
        std::thread::scope(|scope| {
            let running: Vec<_> = rows.iter().map(|row| scope.spawn(|| fault(*row))).collect();
            faults.extend(running.into_iter().filter_map(|running| running.join().unwrap()));
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is printed for a file with these settings, in a directory with access to the cluster.
async fn typed(api: &FakeApi, settings: &Value, line: &str) -> CliOutput {
    let cli = CliFixture::new();
    std::fs::create_dir(cli.path(".kube")).unwrap();
    cli.write(".kube/config", &api.kubeconfig().await);
    cli.write("canary.yaml", &document(settings));
    cli.run(line)
}

#[test]
fn a_dry_run_notes_no_check_that_is_skipped() {
    run(async {
        let api = cluster(State::NoGateway).await;
        let note = "refuses by `no-gateway`";
        for (line, is_noted) in
            [("apply --dry-run", true), ("apply --dry-run --skip-check no-gateway", false)]
        {
            let ran = typed(&api, &settings(State::NoGateway), line).await;
            assert_eq!(ran.stdout.contains(note), is_noted, "{line}: {ran:#?}");
        }
    });
}

#[test]
fn an_edit_of_the_versions_is_said_in_users_before_it_is_written() {
    run(async {
        let api = cluster(State::AtTwenty).await;
        let drains =
            |version: &str| format!("`{version}` gets no new users; its sessions finish there until 20");
        for (versions, expected) in [
            (json!({"stable": "v1", "canary": "v2"}), vec![]),
            (json!({"stable": "v1"}), vec![drains("v2")]),
            (json!({"stable": "v2"}), vec![drains("v1"), "`v2` becomes stable".to_owned()]),
            (json!({"stable": "v1", "canary": "v3"}), vec!["`v2` ".to_owned()]),
        ] {
            let mut edited = settings(State::AtTwenty);
            edited["versions"] = versions.clone();
            for line in ["diff", "apply --dry-run"] {
                let ran = typed(&api, &edited, line).await;
                let said: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with('`')).collect();
                let is_said = said.len() == expected.len()
                    && said.iter().zip(&expected).all(|(said, expected)| said.starts_with(expected));
                assert!(is_said, "{versions}: {line}: {ran:#?}");
            }
        }
    });
}
