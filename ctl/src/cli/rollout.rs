//! `canary-ctl rollout`.

use super::{ClusterAccess, OnCluster, Output, SpecFile};
use canary_release::spec::{DEFAULT_PLAN, Seconds};
use clap::{Args, Subcommand};

/// Roll out the canary automatically, and promote it or roll it back on evidence
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rollout start              by the plan `default`, and then
  canary-ctl rollout run                from its first step to the promotion, or back
  canary-ctl rollout status --watch     step, evidence, and what is waited for
  canary-ctl rollout approve            let a step with `gate: manual` go on

The verbs write the record of the release; `rollout run` carries it out. It may be ended and run
again, also twice at once; a weight that none renews expires by itself. More: docs/rollouts.md")]
pub struct Rollout {
    /// What to do with the rollout.
    #[command(subcommand)]
    pub verb: RolloutCommand,
}

/// What can be done with a rollout.
#[derive(Clone, Debug, Subcommand)]
pub enum RolloutCommand {
    /// Start a rollout of the canary by a plan of the file
    Start(RolloutStart),
    /// Observe, decide and write until the rollout has ended
    Run(RolloutRun),
    /// Say what a rollout does, what it has seen, and what it waits for
    Status(RolloutStatus),
    /// Let a step with `gate: manual` go on
    #[command(after_help = "Example:\n  canary-ctl rollout approve")]
    Approve(RolloutChange),
    /// Keep the weight until somebody resumes
    #[command(after_help = "Example:\n  canary-ctl rollout pause")]
    Pause(RolloutChange),
    /// End a pause, or give the weight back to the rollout after somebody has set one
    #[command(after_help = "Example:\n  canary-ctl rollout resume")]
    Resume(RolloutChange),
    /// Forget the evidence against the canary, and begin its step anew
    #[command(
        after_help = "Example:\n  canary-ctl rollout retry    the cause was found, and it is not the canary"
    )]
    Retry(RolloutChange),
    /// End the rollout: a rollback, or no new users where `onFailure` is not `rollback`
    #[command(after_help = "Example:\n  canary-ctl rollout abort && canary-ctl rollout run")]
    Abort(RolloutChange),
    /// Promote the canary now, whatever is left of the plan
    #[command(after_help = "Example:\n  canary-ctl rollout promote && canary-ctl rollout run")]
    Promote(RolloutChange),
    /// Send a test message to the receivers of alerts
    TestAlerts(TestAlerts),
    /// Call each hook of a rollout once, and say what it has responded
    TestHooks(TestHooks),
    /// Ask Prometheus for the metrics of a rollout, and say what they would say
    TestMetrics(TestMetrics),
}

/// Start a rollout of the canary by a plan of the file
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rollout start                  by the plan `default`: 1, 5, 10, 25 and 50% unless given
  canary-ctl rollout start --plan careful
  canary-ctl rollout start --dry-run        print the plan, and write nothing")]
pub struct RolloutStart {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// The plan, a name in `rollout.plans`
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PLAN)]
    pub plan: String,
    /// Say what would be started, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Something that is asked of a rollout.
#[derive(Clone, Debug, Args)]
pub struct RolloutChange {
    /// Which release, where, and which checks are skipped.
    #[command(flatten)]
    pub on: OnCluster,
    /// Say what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Say what a rollout does, what it has seen, and what it waits for
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl rollout status
  canary-ctl rollout status --watch
  canary-ctl rollout status -o json")]
pub struct RolloutStatus {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Print it again every two seconds
    #[arg(short, long)]
    pub watch: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Observe, decide and write until the rollout has ended
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 promoted, or all steps are done; 1 rolled back, or stopped; 2 could not.
Progress is on stderr. Ctrl-C ends the driver and not the rollout.

Examples:
  canary-ctl rollout run                  in a terminal, in CI, in a Job
  canary-ctl rollout run --interval 30s   from 50 proxies on
  canary-ctl rollout run --dry-run        say what would be done now"
)]
pub struct RolloutRun {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// The time between two observations
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub interval: Seconds,
    /// How long to wait for proxies at a promotion or a rollback
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
    /// Say what would be done now, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Send a test message to the receivers of alerts
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit codes: 0 all receivers have accepted it; 1 one has not; 2 could not.

Examples:
  canary-ctl rollout test-alerts                    to all of `rollout.alerts`
  canary-ctl rollout test-alerts --receiver team
  canary-ctl rollout test-alerts --dry-run -o json  print what each would get, and send nothing")]
pub struct TestAlerts {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Only to this receiver; may be given again
    #[arg(long = "receiver", value_name = "NAME")]
    pub receivers: Vec<String>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster, where a URL stands in a Secret.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Call each hook of a rollout once, and say what it has responded
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Each is sent what a rollout would send it, with `test: \"true\"` in its metadata: a load
tester runs the command of a `rollout` hook. Nothing is written, and no rollout goes on by it.
Exit codes: 0 each has responded, and gates may be closed; 1 one has not, a check has failed, or
one asks for a rollback; 2 could not.

Examples:
  canary-ctl rollout test-hooks                   all of `rollout.hooks`
  canary-ctl rollout test-hooks --hook promotion
  canary-ctl rollout test-hooks --dry-run         print what each would be sent, and call none"
)]
pub struct TestHooks {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Only this hook; may be given again
    #[arg(long = "hook", value_name = "NAME")]
    pub hooks: Vec<String>,
    /// Print what would be sent, and call no hook
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster, where a URL or a key stands in a Secret.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Ask Prometheus for the metrics of a rollout, and say what they would say
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all values are as expected; 1 one is not, or there is none; 2 could not.

Examples:
  canary-ctl rollout test-metrics            the values of both versions now, and what is expected of them
  canary-ctl rollout test-metrics --dry-run  print the queries, and ask nothing"
)]
pub struct TestMetrics {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Print what would be asked, and ask nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster, where the token stands in a Secret.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
