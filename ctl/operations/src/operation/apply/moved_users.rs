//! Users that an edit of the file moves, before it is written.

use super::Planned;
use crate::Error;
use crate::operation::checks::now;
use assignment::contract::{FilterConfig, Position, VersionConfig};
use canary_release::delivery::deployed_config;
use canary_release::moved_users::{Destination, Edit, MovedUsers, moved_users};
use canary_release::object::Reference;
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck};
use canary_release::spec::ReleaseName;
use canary_release::{config, plan};

impl Planned {
    /// The check of an edit, where it fails: in the configuration of each proxy that has the release.
    pub(super) fn failed_edit(&self, release: &ReleaseName) -> Result<Option<CheckFailed>, Error> {
        let mut moved: Vec<MovedUsers> = Vec::new();
        for users in self.moved_users(release)? {
            let is_same = |other: &&mut MovedUsers| (&other.version, other.to) == (&users.version, users.to);
            match moved.iter_mut().find(is_same) {
                Some(known) if known.percent >= users.percent => {}
                Some(known) => *known = users,
                None => moved.push(users),
            }
        }
        let alternative = match moved.first() {
            None => return Ok(None),
            Some(users) if users.to == Destination::Pod => {
                Alternative::EndSessions { deployments: Vec::new() }
            }
            Some(_) => Alternative::EndCanary,
        };
        let message = moved.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Ok(Some(CheckFailed { check: PreflightCheck::MovesUsers, message, alternative }))
    }

    fn moved_users(&self, release: &ReleaseName) -> Result<Vec<MovedUsers>, Error> {
        let Some(before) = &self.before else { return Ok(Vec::new()) };
        let name = release.to_string();
        let mut all = Vec::new();
        if before.service.name != self.stored.record.service.name {
            let to_other_pods = |version: &VersionConfig| MovedUsers {
                version: version.name.clone(),
                percent: 100,
                to: Destination::Pod,
                fields: vec!["service.name"],
            };
            all.extend(before.state.versions.iter().map(to_other_pods));
        }
        for reference in before.config_objects() {
            let Some(object) = self.snapshot.observed.objects.get(reference) else { continue };
            let Some(deployed) = deployed_config(object).map_err(plan::Error::from)? else { continue };
            let edited = self.desired_config(reference, deployed.position)?;
            let edit = Edit {
                release: &name,
                deployed: &deployed,
                edited: edited.as_ref(),
                peak: before.history.peak_weight(),
                now: now(),
            };
            all.extend(moved_users(edit).map_err(config::Error::from).map_err(plan::Error::from)?);
        }
        Ok(all)
    }

    /// The configuration that the proxies of this one would get: in the same object, or in one of another delivery mode.
    fn desired_config(&self, old: &Reference, position: Position) -> Result<Option<FilterConfig>, Error> {
        let mut other = None;
        for object in self.desired.objects.iter().filter(|object| object.reference.namespace == old.namespace)
        {
            let Some(config) = deployed_config(&object.body).map_err(plan::Error::from)? else { continue };
            if object.reference == *old {
                return Ok(Some(config));
            }
            other = other.or((config.position == position).then_some(config));
        }
        Ok(other)
    }
}
