//! What was done with the releases of a train, and what would be written.

use crate::command::role_change::Roles;
use crate::report::{PaintedText, PlanReport, Report};
use canary_operations::{TrainChange, TrainChanged, TrainStep};
use canary_release::plan::Plan;
use canary_release::spec::ReleaseName;
use serde::Serialize;
use std::fmt::{self, Write as _};

/// The result for each release, in that order.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrainReport {
    train: String,
    releases: Vec<ReleaseReport>,
    /// The releases that were not begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_begun: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "action")]
enum ReleaseReport {
    /// Its roles were changed.
    Changed(Roles),
    /// It was left as it is.
    Left { release: String, reason: String },
}

impl TrainReport {
    pub(super) fn new(train: &str, changed: &TrainChanged) -> Self {
        let of = |step: &TrainStep| match &step.change {
            TrainChange::Changed(changed) => ReleaseReport::Changed(Roles::of(&step.release, changed)),
            TrainChange::Left(reason) => {
                ReleaseReport::Left { release: step.release.to_string(), reason: reason.to_string() }
            }
        };
        let not_begun = changed.not_begun.iter().map(ToString::to_string).collect();
        Self { train: train.to_owned(), releases: changed.steps.iter().map(of).collect(), not_begun }
    }
}

impl Report for TrainReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for release in &self.releases {
            match release {
                ReleaseReport::Changed(roles) => roles.text(out)?,
                ReleaseReport::Left { release, reason } => {
                    writeln!(out, "{release} is left as it is: {reason}")?;
                }
            }
        }
        for release in &self.not_begun {
            writeln!(out, "{release} is not begun")?;
        }
        Ok(())
    }
}

/// The plan of each release, in that order.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TrainPlan {
    train: String,
    releases: Vec<PlannedRelease>,
}

/// The plan of a release.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PlannedRelease {
    release: String,
    #[serde(serialize_with = "as_report")]
    plan: Plan,
}

fn as_report<S: serde::Serializer>(plan: &Plan, serializer: S) -> Result<S::Ok, S::Error> {
    PlanReport::new(plan).serialize(serializer)
}

impl PlannedRelease {
    pub(super) fn new(release: &ReleaseName, plan: Plan) -> Self {
        Self { release: release.to_string(), plan }
    }
}

impl TrainPlan {
    pub(super) fn new(train: &str, releases: Vec<PlannedRelease>) -> Self {
        Self { train: train.to_owned(), releases }
    }
}

impl Report for TrainPlan {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut text = PaintedText::default();
        self.painted(&mut text)?;
        out.write_str(text.as_str())
    }

    fn painted(&self, out: &mut PaintedText) -> fmt::Result {
        for PlannedRelease { release, plan } in &self.releases {
            writeln!(out, "{release}:")?;
            PlanReport::new(plan).painted(out)?;
            if plan.is_empty() {
                writeln!(out, "nothing is left to write")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_operations::LeftReason;
    use canary_release::object::{Reference, Stage};
    use canary_release::plan::{Action, Change, ChangeReason};
    use serde_json::{Value, json};

    fn text(report: &impl Report) -> String {
        let mut text = String::new();
        report.text(&mut text).unwrap();
        text
    }

    fn name(text: &str) -> ReleaseName {
        text.parse().unwrap()
    }

    #[test]
    fn a_dry_run_of_a_train_has_the_plan_of_each_release_in_their_order() {
        let change = Change {
            stage: Stage::Routes,
            object: Reference::new("v1", "ConfigMap", "shop", "api"),
            action: Action::Update,
            why: ChangeReason::Asked,
            fields: Vec::new(),
            body: Value::Null,
            seen: None,
            claim: None,
        };
        let plans =
            [("shop/api", Plan { changes: vec![change], ..Plan::default() }), ("shop/web", Plan::default())];
        let plan = TrainPlan::new(
            "autumn",
            plans.map(|(release, plan)| PlannedRelease::new(&name(release), plan)).to_vec(),
        );
        assert_eq!(
            text(&plan),
            "shop/api:\n~ ConfigMap shop/api: the release asks for it\nshop/web:\nnothing is left to write\n"
        );
        let json = serde_json::to_value(&plan).unwrap();
        assert_eq!(
            (&json["train"], &json["releases"][1]),
            (&"autumn".into(), &json!({"release": "shop/web", "plan": {"changes": []}}))
        );
        assert_eq!(json["releases"][0]["plan"]["changes"][0]["action"], "update");
    }

    #[test]
    fn a_report_says_what_was_left_and_what_was_not_begun() {
        let left = |reason| TrainChange::Left(reason);
        let step = |release: &str, change| TrainStep { release: name(release), change };
        let steps = vec![
            step("shop/api", left(LeftReason::Promoted("v2".to_owned()))),
            step("shop/mail", left(LeftReason::NoCanary)),
        ];
        let report = TrainReport::new("autumn", &TrainChanged { steps, not_begun: vec![name("shop/web")] });
        assert_eq!(
            text(&report),
            "shop/api is left as it is: `v2` is promoted already\nshop/mail is left as it is: it has no canary\nshop/web is not begun\n"
        );
        let expected = json!({"train": "autumn", "notBegun": ["shop/web"], "releases": [
            {"action": "left", "release": "shop/api", "reason": "`v2` is promoted already"},
            {"action": "left", "release": "shop/mail", "reason": "it has no canary"},
        ]});
        assert_eq!(serde_json::to_value(&report).unwrap(), expected);
    }
}
