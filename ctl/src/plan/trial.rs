//! A new module, which is the proxies' only once each was seen to run it: until then the old one can be put back.
//!
//! A proxy that cannot fetch a module goes on with the one that it has, and gets no weight and no rollback any more. So a
//! module comes alone, and whatever else is written before it has arrived puts the old one back.

use super::carried::rewritten;
use super::{Error, Object, Plan, Record, Reference};
use crate::manifest::{Code, Stage};
use assignment::contract::ReleaseConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A module that is being tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trial(Vec<Tried>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Tried {
    object: Reference,
    from: Code,
    to: Code,
}

/// Which module a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trying {
    /// The new one.
    New,
    /// The one before it.
    Old,
}

impl Trial {
    /// What has to be tried before the rest of a release may come; `None` where every object names its module already.
    /// `earlier` is a trial that did not come to its end: what it tried is not known to run.
    pub fn of(
        desired: &[Object],
        observed: &BTreeMap<Reference, Value>,
        earlier: Option<&Self>,
    ) -> Option<Self> {
        let holds = desired.iter().filter(|object| object.stage == Stage::Configuration);
        let tried = holds.filter_map(|object| {
            let held = Code::of(observed.get(&object.reference)?)?;
            let before = earlier.and_then(|earlier| earlier.entry(&object.reference));
            let from = before.filter(|before| before.to == held).map_or(held, |before| before.from.clone());
            let to = Code::of(&object.body)?;
            (from != to).then(|| Tried { object: object.reference.clone(), from, to })
        });
        let tried: Vec<_> = tried.collect();
        (!tried.is_empty()).then_some(Self(tried))
    }

    /// The plan that gives proxies one of the two modules and the record's generation, by which it is seen, and nothing else.
    ///
    /// Fails where an object is not there or does not know the release.
    pub fn plan(
        &self,
        release: &str,
        record: &Record,
        which: Trying,
        observed: &BTreeMap<Reference, Value>,
    ) -> Result<Plan, Error> {
        let entry = |entry: &mut ReleaseConfig| entry.generation = record.standing.generation;
        let module = |reference: &Reference, body: Value| match which {
            Trying::New => self.entry(reference).map_or(body.clone(), |tried| tried.to.put_into(&body)),
            Trying::Old => self.taken_back(reference, body),
        };
        rewritten(release, record, observed, entry, module)
    }

    /// An object with the old module, where it names the one that is tried: others may have brought another since.
    pub(super) fn taken_back(&self, reference: &Reference, object: Value) -> Value {
        let held = Code::of(&object);
        match self.entry(reference).filter(|tried| held.as_ref() == Some(&tried.to)) {
            Some(tried) => tried.from.put_into(&object),
            None => object,
        }
    }

    fn entry(&self, reference: &Reference) -> Option<&Tried> {
        self.0.iter().find(|tried| tried.object == *reference)
    }
}

/// The module that is tried.
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first().map_or(Ok(()), |tried| tried.to.fmt(f))
    }
}
