//! The operations on the releases of a train whose checks have passed, and how they are carried out: one after the other.

use super::step::about;
use super::{LeftReason, TrainChange, TrainChanged, TrainStep};
use crate::Error;
use canary_release::spec::ReleaseName;

/// An operation on a train whose checks have passed. `C` is that on one release, `O` has the settings of all.
#[derive(Clone, Debug)]
pub struct CheckedTrain<O, C> {
    pub(super) options: O,
    steps: Vec<(ReleaseName, CheckedStep<C>)>,
}

/// The next step of a release.
#[derive(Clone, Debug)]
pub(super) enum CheckedStep<C> {
    /// Its roles are changed; where they were changed already, this is waited for.
    Change(C),
    Leave(LeftReason),
}

impl<O, C> CheckedTrain<O, C> {
    /// The releases in the order in which they are changed.
    pub(super) const fn new(options: O, steps: Vec<(ReleaseName, CheckedStep<C>)>) -> Self {
        Self { options, steps }
    }

    /// The releases whose roles are changed, in this order, and those whose roles were changed already.
    pub fn changes(&self) -> impl Iterator<Item = (&ReleaseName, &C)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            CheckedStep::Change(checked) => Some((release, checked)),
            CheckedStep::Leave(_) => None,
        })
    }

    /// The releases that are left as they are, and why.
    pub fn left(&self) -> impl Iterator<Item = (&ReleaseName, &LeftReason)> {
        self.steps.iter().filter_map(|(release, step)| match step {
            CheckedStep::Change(_) => None,
            CheckedStep::Leave(reason) => Some((release, reason)),
        })
    }

    /// Takes the operation on a release out, for who carries it out last.
    pub(crate) fn take(&mut self, release: &ReleaseName) -> Option<C> {
        let index = self.steps.iter().position(|(name, _)| name == release)?;
        match self.steps.remove(index).1 {
            CheckedStep::Change(checked) => Some(checked),
            CheckedStep::Leave(_) => None,
        }
    }

    /// Calls `change` with each release. Its last argument is whether something was written before: the step before may have taken minutes, so the
    /// checks are made once more. Ends after a step that has not arrived in every proxy. `told` is called with each step.
    pub(super) async fn carry_out(
        self,
        told: &mut dyn FnMut(&TrainStep),
        mut change: impl AsyncFnMut(&ReleaseName, C, bool) -> Result<TrainChange, Error>,
    ) -> Result<TrainChanged, Error> {
        let mut changed = TrainChanged::default();
        let mut steps = self.steps.into_iter();
        while let Some((release, step)) = steps.next() {
            let change = match step {
                CheckedStep::Leave(reason) => TrainChange::Left(reason),
                CheckedStep::Change(checked) => {
                    about(&release, change(&release, checked, changed.has_written()).await)?
                }
            };
            let is_late = matches!(&change, TrainChange::Changed(changed) if changed.not_observed.is_some());
            changed.add((release, change), told);
            if is_late {
                changed.not_begun = steps.map(|(release, _)| release).collect();
                break;
            }
        }
        Ok(changed)
    }
}
