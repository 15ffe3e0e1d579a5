//! A denied request, with all rights that the user lacks: they are given at once, and not one after the other.

use super::arguments::{ClusterAccess, OnCluster, SpecFile};
use super::cli::Verb;
use super::rollout::RolloutCommand;
use super::target;
use super::token::TokenVerb;
use crate::{Error, module};

/// The file and the cluster of a verb that may be denied a request.
pub(super) struct Scope {
    spec: SpecFile,
    access: ClusterAccess,
}

impl Scope {
    /// Of a verb; `None` if its file does not say which rights it needs.
    pub(super) fn of(verb: &Verb) -> Option<Self> {
        let on = |on: &OnCluster| (on.of.spec.clone(), on.cluster.clone());
        let (spec, access) = match verb {
            Verb::Diff(of) => (of.spec.clone(), of.cluster.clone()),
            Verb::Apply(of) => (of.spec.clone(), of.cluster.clone()),
            Verb::Weight(of) => (of.of.spec.clone(), of.cluster.clone()),
            Verb::Status(of) => (of.of.spec.clone(), of.cluster.clone()),
            Verb::Dashboard(of) if !of.all => (of.of.spec.clone(), of.cluster.clone()),
            Verb::RotateKeys(of) => (of.spec.clone(), of.cluster.clone()),
            Verb::Explain(of) => (of.spec.clone(), of.cluster.clone()),
            Verb::Pause(of) => on(&of.on),
            Verb::Resume(of) => on(&of.on),
            Verb::Promote(of) => on(&of.on),
            Verb::Rollback(of) => on(&of.on),
            Verb::Uninstall(of) => on(&of.on),
            Verb::Rollout(of) => match &of.verb {
                RolloutCommand::Start(of) => on(&of.on),
                RolloutCommand::Run(of) => (of.of.spec.clone(), of.cluster.clone()),
                RolloutCommand::TestAlerts(of) => (of.spec.clone(), of.cluster.clone()),
                RolloutCommand::TestHooks(of) => (of.spec.clone(), of.cluster.clone()),
                RolloutCommand::TestMetrics(of) => (of.spec.clone(), of.cluster.clone()),
                RolloutCommand::Status(of) => (of.of.spec.clone(), of.cluster.clone()),
                RolloutCommand::Approve(of)
                | RolloutCommand::Pause(of)
                | RolloutCommand::Resume(of)
                | RolloutCommand::Retry(of)
                | RolloutCommand::Abort(of)
                | RolloutCommand::Promote(of) => on(&of.on),
            },
            Verb::Token(of) => match &of.verb {
                TokenVerb::Create(of) => (of.spec.clone(), of.cluster.clone()),
                TokenVerb::Inspect(_) | TokenVerb::Revoke(_) => return None,
            },
            _ => return None,
        };
        Some(Self { spec, access })
    }

    /// The error with the rights that are missing, if it is about one of them and the API server says which.
    pub(super) async fn complete(self, error: Error) -> Error {
        match error {
            Error::Emergency { source, break_glass } => {
                let source = Box::new(Box::pin(self.complete(*source)).await);
                Error::Emergency { source, break_glass }
            }
            Error::Cluster(denied @ canary_operations::Error::Forbidden { .. }) => match self.missing().await
            {
                Some((user, missing)) => Error::Denied { denied: Box::new(denied), user, missing },
                None => denied.into(),
            },
            other => other,
        }
    }

    /// The user, and the rights that they lack; `None` where they cannot be asked.
    async fn missing(self) -> Option<(String, Vec<canary_release::rbac::Right>)> {
        let release = module::load(&self.spec.file).ok()?.release;
        let cluster = target::connect(&self.access).await.ok()?;
        let missing = cluster.missing_rights(&release).await.ok()?;
        Some((cluster.user().to_owned(), missing))
    }
}
