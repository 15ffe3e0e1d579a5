//! `canary-ctl recover`.

use super::OnCluster;
use clap::Args;

/// Write the record of a release again, from its objects on the cluster
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "For a record that is not obeyed: it was changed without the keys of records, copied or put back, or an earlier canary-ctl wrote it.
Versions, weight and sessions stay as they are. The history, a pause and a rollout are lost.

`--accept-record` takes history, pause, the last promotion and, where the cluster has no objects of the release yet, its versions from the record
that is there: look at it before (`kubectl get configmap`). It is for a record of an earlier canary-ctl, and for one that was copied to a second
cluster.

With a file only the namespaces that it names count; without one all namespaces have to agree.

Examples:
  canary-ctl recover
  canary-ctl recover --accept-record
  canary-ctl recover -r shop/shop --dry-run"
)]
pub struct Recover {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// Accept what the record says of the history, a pause and versions, although its seals are not genuine; takes the file of the release
    #[arg(long)]
    pub accept_record: bool,
    /// Print what would be written
    #[arg(long)]
    pub dry_run: bool,
}
