//! The page: tables by canary and tool, and the settings of both.

use std::fmt::Write as _;

use mesh_studies::Scenario;
use serde_json::{Value, json};

use crate::objects::{canary, metric_template};
use crate::outcome::{Outcome, Tool};
use crate::settings::{HANG_TIMEOUT, INTERVAL, METRIC_INTERVAL, OLDER, PACE, PLAN, SCENARIOS};

/// The page of these outcomes, by this version of Flagger.
pub(crate) fn page(all: &[Outcome], version: &str) -> String {
    let mut page = head(all, version);
    page.push_str("\n## False rollbacks\n\n");
    page.push_str(&false_rollbacks(all));
    page.push_str("\n## Canaries that are no worse than stable\n\n");
    page.push_str(&promoted(all));
    page.push_str("\n## Canaries that are worse\n\n");
    page.push_str(&rolled_back(all));
    page.push_str("\n## Why\n\nIn the words of the tools, of the first rollout of each:\n\n");
    page.push_str(&reasons(all));
    page.push_str(&settings());
    page.push_str(READING);
    page
}

fn head(all: &[Outcome], version: &str) -> String {
    let weights = PLAN.weights.map(|weight| weight.to_string()).join(", ");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "# Beside Flagger\n\n<!-- Written by `./x bench-flagger`; do not edit. -->\n\n\
         Flagger {version} and `canary-ctl rollout run` take the same shop from v1 to v2 in one real Istio, each behind a gateway of its own: the same \
         faults, the same users, steps of {weights} % and {INTERVAL} each. A rollout of one tool runs at the same time as the same rollout of the \
         other, so that what disturbs one disturbs both. {} rollouts; all parts share one machine with {processors} processors and other work, so \
         the seconds say nothing about another.\n\n\
         {} users are there at a time and stay for about {} s: one puts something into the cart, then looks at it {} times, {} ms apart in the \
         mean, on a connection of its own. The shop keeps sessions in the memory of its pod, one of each version. A session has *moved* when another \
         version responds than before; its cart is *lost* when a pod responds that does not know it. Pages fail by \
         chance, with the probability that is named.\n",
        all.len(),
        PACE.users,
        (PACE.pause * PACE.rounds).as_secs(),
        PACE.rounds - 1,
        PACE.pause.as_millis(),
    )
}

/// The rollouts of a scenario by a tool.
fn of<'o>(all: &'o [Outcome], scenario: &Scenario, tool: Tool) -> Vec<&'o Outcome> {
    all.iter().filter(|outcome| outcome.is_of(scenario.name, tool)).collect()
}

fn expecting(result: &str) -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().filter(move |scenario| scenario.expected == result)
}

fn count(rollouts: &[&Outcome], result: &str) -> usize {
    rollouts.iter().filter(|outcome| outcome.result == result).count()
}

/// `3 of 5`, in bold where it is not all of them.
fn verdict(found: usize, all: usize) -> String {
    if found == all { format!("{found} of {all}") } else { format!("**{found} of {all}**") }
}

fn false_rollbacks(all: &[Outcome]) -> String {
    let mut text =
        "| tool | rollouts of a canary that is no worse | rolled back |\n| --- | ---: | ---: |\n".to_owned();
    for tool in Tool::ALL {
        let good: Vec<&Outcome> =
            expecting("promoted").flat_map(|scenario| of(all, scenario, tool)).collect();
        let wrong = count(&good, "rolledBack");
        let _ = writeln!(text, "| {} | {} | {wrong} |", tool.name(), good.len());
    }
    text + BELOW_THE_LIMIT
}

const BELOW_THE_LIMIT: &str = "
Where both versions fail 5 % of their pages, or 10 % of first pages, stable itself fails more than Flagger's limit allows: for an application that is like that
always, one would set another limit. The rows say what happens where a database that both share begins to fail.
";

fn promoted(all: &[Outcome]) -> String {
    let mut text = "| what is wrong | tool | promoted | seconds in all | users | users who met a fault | sessions moved in the steps | \
                    by the promotion | back to v1 | carts lost |\n\
                    | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for (scenario, tool, rollouts) in cells(all, "promoted") {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            scenario.name,
            tool.name(),
            verdict(count(&rollouts, "promoted"), rollouts.len()),
            range(&rollouts, |outcome| Some(outcome.seconds)),
            median(&rollouts, |outcome| outcome.users),
            median(&rollouts, |outcome| outcome.failed_users),
            median(&rollouts, |outcome| outcome.moved_in_steps),
            median(&rollouts, |outcome| outcome.moved_by_promotion),
            median(&rollouts, |outcome| outcome.moved_back),
            median(&rollouts, |outcome| outcome.lost),
        );
    }
    text + COLUMNS
}

fn rolled_back(all: &[Outcome]) -> String {
    let mut text = "| what is wrong | tool | rolled back | seconds from the canary's first response to its last | seconds in all | \
                    users | users who met a fault | sessions moved in the steps | back to v1 | carts lost |\n\
                    | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for (scenario, tool, rollouts) in cells(all, "rolledBack") {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            scenario.name,
            tool.name(),
            verdict(count(&rollouts, "rolledBack"), rollouts.len()),
            range(&rollouts, |outcome| outcome.exposed),
            range(&rollouts, |outcome| Some(outcome.seconds)),
            median(&rollouts, |outcome| outcome.users),
            median(&rollouts, |outcome| outcome.failed_users),
            median(&rollouts, |outcome| outcome.moved_in_steps),
            median(&rollouts, |outcome| outcome.moved_back),
            median(&rollouts, |outcome| outcome.lost),
        );
    }
    text + COLUMNS
}

const COLUMNS: &str = "\nMedians of the rollouts of a row; in parentheses the least and the greatest.\n";

/// The scenarios that have to end so, by tool, as far as they were tried.
fn cells<'o>(
    all: &'o [Outcome],
    expected: &'static str,
) -> impl Iterator<Item = (&'static Scenario, Tool, Vec<&'o Outcome>)> {
    expecting(expected)
        .flat_map(|scenario| Tool::ALL.map(|tool| (scenario, tool)))
        .map(|(scenario, tool)| (scenario, tool, of(all, scenario, tool)))
        .filter(|(_, _, rollouts)| !rollouts.is_empty())
}

fn reasons(all: &[Outcome]) -> String {
    let mut text = String::new();
    for scenario in &SCENARIOS {
        for tool in Tool::ALL {
            let rollouts = of(all, scenario, tool);
            if let Some(first) = rollouts.first() {
                let _ = writeln!(
                    text,
                    "* {}, {}: {}, {}",
                    scenario.name,
                    tool.name(),
                    first.result,
                    first.reason
                );
            }
        }
    }
    text
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle one, the lower of two.
fn middle(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

fn median(rollouts: &[&Outcome], of: impl Fn(&Outcome) -> usize) -> String {
    let values = sorted(rollouts.iter().map(|outcome| as_f64(of(outcome))));
    middle(&values).map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"))
}

/// The median, and where there are several the least and the greatest.
fn range(rollouts: &[&Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> String {
    let values = sorted(rollouts.iter().filter_map(|outcome| of(outcome)));
    match (middle(&values), values.as_slice()) {
        (Some(middle), [least, .., greatest]) => format!("{middle:.0} ({least:.0}–{greatest:.0})"),
        (Some(middle), _) => format!("{middle:.0}"),
        (None, _) => "–".to_owned(),
    }
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

fn settings() -> String {
    let ours = json!({"spec": {"sessionAffinity": "identity", "rollout": PLAN.spec()}});
    let fence = |value: &Value| format!("```yaml\n{}\n```\n", yaml(value).trim_end());
    let metric = metric_template("shop", "http://prometheus:9090");
    format!(
        "\n## Settings\n\n`canary-ctl` has the [example with a session cookie](../examples/session-cookie/canary.yaml) and `rollout run --interval \
         {INTERVAL}`; the rest are its defaults. Both Deployments are there before the rollout.\n\n{}\n\
         Flagger has what its documentation advises: the threshold, the least success rate and the {METRIC_INTERVAL} of its tutorial for Istio, \
         the cookies of its page on session affinity, `preStop: sleep 10` of its guide to deployments without downtime. The interval is the shortest \
         that it takes; its tutorial has one of a minute.\n\n{}\n{}",
        fence(&ours),
        fence(&canary("shop", "istio-ingress", None)),
        fence(&metric),
    ) + &stand_ins()
}

fn stand_ins() -> String {
    format!(
        "\n* **The metric stands in for `istio_requests_total`.** The lab's Envoys are plain ones, without Istio's telemetry. A Prometheus scrapes the \
         gateway each second, and the query is that of Flagger's `request-success-rate` with the gateway's count of the canary's cluster. Istio's metric \
         with `reporter=\"destination\"` counts in the pod's sidecar; the gateway also counts what never reached a pod, so the stand-in sees more.\n\
         * Where the canary hangs, Flagger's route has `timeout: {HANG_TIMEOUT}`, after which the gateway responds 504. Without it no response is \
         counted, and the metric cannot see the fault. `canary-ctl` has no timeout there: its filter counts requests without a response. Clients \
         give up after 30 s. Flagger's `request-duration` was not used: P99 on a machine that is shared says more about the machine.\n\
         * Both versions have one pod, so that it does not matter how the requests of a user get to one pod.\n\
         * Where sessions from before the rollout go on, {} further users are there for all of it; they are counted too.\n",
        OLDER.users,
    )
}

/// YAML, with the fields in alphabetical order.
fn yaml(value: &Value) -> String {
    serde_saphyr::to_string(value).unwrap_or_else(|error| error.to_string())
}

const READING: &str = "
## What follows from the designs

* Flagger promotes by bringing v2 to the pods of the *primary*, one by one, and then moves everybody there. Sessions in the memory of pods end with
  the pods. An application whose sessions are in a database loses none. `canary-ctl` changes roles and leaves the pods of v1 to their sessions.
* Flagger's primary cookie lives for one interval. A session of v1 that lasts longer is drawn anew with each interval, and may move to the canary; that is
  how the weight comes to hold for users who were there before. `canary-ctl` decides new sessions alone, so its canary has fewer users at first, and a step
  takes longer than its interval where 300 responses of the canary take longer.
* Flagger's rollback takes its threshold times its interval, and one interval more. A smaller threshold takes less, and ends more good canaries.
* Flagger creates, scales and deletes the canary's pods itself, from one Deployment; `canary-ctl` expects both. That time is part of \"seconds in all\" for
  Flagger, and not for `canary-ctl`.
* Flagger compares the canary with a number, `canary-ctl` with stable at the same time. A fault that is there before the canary counts against the canary with
  the former, unless the number allows for it. A limit is easier to explain; `maxErrors` and [metrics](rollouts.md#prometheus) are that here.
* Flagger needs no filter in the gateway, and can decide by any metric of many providers.

## What this does not show

* One application, one gateway, one traffic, few rollouts of each canary. Flagger's A/B and blue/green modes, mirroring and webhooks were not tried.
* Minutes are seconds here. With an interval of a minute, as in Flagger's tutorial, each check has responses of its own; here five checks in a row
  look at much the same minute.
* `canary-ctl` is of the same authors as this study.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::example;

    fn outcomes() -> Vec<Outcome> {
        let good = Scenario::BOTH_FAIL_1.name;
        let broken = Scenario::FAILS_5.name;
        vec![
            example(good, 1, Tool::CanaryCtl, "promoted"),
            example(good, 2, Tool::CanaryCtl, "promoted"),
            example(good, 1, Tool::Flagger, "rolledBack"),
            example(good, 2, Tool::Flagger, "promoted"),
            example(broken, 1, Tool::CanaryCtl, "rolledBack"),
            example(broken, 2, Tool::CanaryCtl, "rolledBack"),
            example(broken, 3, Tool::CanaryCtl, "rolledBack"),
        ]
    }

    fn line<'p>(page: &'p str, begins: &str) -> &'p str {
        page.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("no {begins} in\n{page}"))
    }

    #[test]
    fn a_rollback_of_a_good_canary_is_false_and_one_of_a_worse_canary_is_not() {
        let page = page(&outcomes(), "1.44.0");
        assert_eq!(line(&page, "| canary-ctl"), "| canary-ctl | 2 | 0 |");
        assert_eq!(line(&page, "| Flagger"), "| Flagger | 2 | 1 |");
    }

    #[test]
    fn a_row_says_how_many_ended_as_they_have_to_and_the_medians() {
        let page = page(&outcomes(), "1.44.0");
        let good = format!("| {} | Flagger |", Scenario::BOTH_FAIL_1.name);
        assert_eq!(
            line(&page, &good),
            format!("{good} **1 of 2** | 61 (61–62) | 200 | 20 | 3 | 7 | 2 | 11 |")
        );
        let broken = format!("| {} | canary-ctl |", Scenario::FAILS_5.name);
        assert_eq!(
            line(&page, &broken),
            format!("{broken} 3 of 3 | 22 (21–23) | 62 (61–63) | 200 | 20 | 3 | 2 | 11 |")
        );
    }

    #[test]
    fn what_was_not_tried_has_no_row() {
        let page = page(&outcomes(), "1.44.0");
        assert!(!page.contains(&format!("| {} |", Scenario::HANGS.name)), "{page}");
        assert!(!page.contains(&format!("| {} | Flagger |", Scenario::FAILS_5.name)), "{page}");
    }

    #[test]
    fn the_page_has_the_settings_of_both_and_the_version() {
        let page = page(&outcomes(), "1.44.0");
        for part in
            ["Flagger 1.44.0 and", "primaryCookieName: primary-flagger-cookie", "threshold: 5", "hold: 10s"]
        {
            assert!(page.contains(part), "{part} is missing in\n{page}");
        }
    }
}
