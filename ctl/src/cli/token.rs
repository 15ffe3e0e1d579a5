//! `canary-ctl token`.

use super::{ClusterAccess, Keys, Output, SpecFile};
use canary_release::spec::Seconds;
use clap::{Args, Subcommand};

/// Sign, inspect and revoke the tokens by which testers choose a version
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Example:\n  canary-ctl token create --version v2 --ttl 2h --url https://shop.example.com/"
)]
pub struct Token {
    /// What to do with tokens.
    #[command(subcommand)]
    pub verb: TokenVerb,
}

/// What can be done with tokens.
#[derive(Clone, Debug, Subcommand)]
pub enum TokenVerb {
    /// Sign a token for a version.
    Create(TokenCreate),
    /// Say what a token says, and whether a proxy would believe it.
    Inspect(TokenInspect),
    /// End every token that was issued until now.
    Revoke(TokenRevoke),
}

/// Sign a token for a version
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl token create --version v2 --ttl 2h --url https://shop.example.com/\n  \
    curl -H \"x-canary-token: $(canary-ctl token create --version canary --ttl 5m)\" https://shop.example.com/\n\n\
    Of a release on a cluster it takes keys and epoch from what the proxies hold; with `--signing-keys` it asks no cluster.\n\
    Who has the token has its version until it expires: hand it on like a password.")]
pub struct TokenCreate {
    /// The version: its name, `canary` or `stable`
    #[arg(long)]
    pub version: String,
    /// How long it lives, at most 7d
    #[arg(long, value_name = "DURATION", default_value = "2h")]
    pub ttl: Seconds,
    /// Print a link to this address that hands the token to a browser
    #[arg(long)]
    pub url: Option<String>,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Say what a token says, and whether a proxy would believe it
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Example:\n  canary-ctl token inspect 't1.k1.v2.1.…'\n\nExits 1 where a proxy would not believe it."
)]
pub struct TokenInspect {
    /// The token, or a link with it
    pub token: String,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// End every token that was issued until now
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl token revoke --wait\n\n\
    For the local target. Elsewhere set `tokensNotBefore` in the release.")]
pub struct TokenRevoke {
    /// Wait until Envoy refuses them
    #[arg(long)]
    pub wait: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
