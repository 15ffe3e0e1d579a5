//! What becomes of the objects of a running Deployment, as text: one line for each.

use super::{Report, escape};
use canary_operations::Adoption;
use canary_release::object::Reference;
use canary_release::plan::{LabelAction, LabelWrite};
use serde::Serialize;
use std::fmt;

/// A change of the version label.
#[derive(Serialize)]
#[serde(transparent)]
pub struct AdoptionReport<'a>(&'a Adoption);

impl<'a> AdoptionReport<'a> {
    /// The report of a change.
    pub const fn of(adoption: &'a Adoption) -> Self {
        Self(adoption)
    }

    /// One write that was done.
    pub fn line(write: &LabelWrite) -> String {
        let done = match write.action {
            LabelAction::Pause => "paused",
            LabelAction::Label => "labelled",
            LabelAction::Unlabel => "label removed",
            LabelAction::Resume => "resumed",
        };
        format!("{}: {done}", write.object)
    }
}

const fn word(action: LabelAction) -> &'static str {
    match action {
        LabelAction::Pause => "pause",
        LabelAction::Label => "label",
        LabelAction::Unlabel => "remove label",
        LabelAction::Resume => "resume",
    }
}

impl Report for AdoptionReport<'_> {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut objects: Vec<(&Reference, Vec<&str>)> = Vec::new();
        for write in &self.0.writes {
            match objects.iter_mut().find(|(object, _)| *object == &write.object) {
                Some((_, words)) => words.push(word(write.action)),
                None => objects.push((&write.object, vec![word(write.action)])),
            }
        }
        for (object, words) in objects {
            writeln!(out, "{}: {} ({})", escape::line(&object.to_string()), words.join(", "), self.0.label)?;
        }
        Ok(())
    }
}
