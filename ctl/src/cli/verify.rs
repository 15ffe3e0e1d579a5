//! `canary-ctl verify`.

use super::{ClusterAccess, Keys, Output, SpecFile};
use crate::verify::VersionSource;
use assignment::Weight;
use clap::Args;
use url::Url;

/// Send real requests, and check share, stickiness, override and spoofing
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl verify https://shop.example.com/ --version-header x-shop-version\n  \
    canary-ctl verify https://shop.example.com/ --version-header x-shop-version --live\n  \
    canary-ctl verify http://203.0.113.7/ --host shop.example.com --version-header x-shop-version --live\n  \
    canary-ctl verify http://127.0.0.1:8080/ --host shop.example.com --version-from json:.version --users 200\n\n\
    Users keep cookies as browsers do, and follow no redirects. Forged headers, pins, ids and tokens are sent on behalf \
    of users on stable. At weight 0 and 100 share and stickiness show little; `mint: never` hides the share.\n\n\
    Exits 0 where nothing failed, 1 where a check failed, 2 where there is no response.")]
pub struct Verify {
    /// The page to ask for
    pub url: Url,
    /// The `Host` header, where the address is not the users' one
    #[arg(long)]
    pub host: Option<String>,
    /// The header in which the application names its version (default: the release's debug header)
    #[arg(long, value_name = "NAME", conflicts_with = "version_from")]
    pub version_header: Option<String>,
    /// Where a JSON body names the version, `json:.field.field`
    #[arg(long, value_name = "PLACE")]
    pub version_from: Option<VersionSource>,
    /// How many users come
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub users: u32,
    /// How many requests each sends, one after the other
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub requests: u32,
    /// How many users come at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub concurrency: u32,
    /// The weight to expect, in percent (default: with `--live` the proxies', else the local target's, else the file's)
    #[arg(long, value_name = "PERCENT")]
    pub weight: Option<Weight>,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// By what the proxies of the cluster hold at this moment, and not by the file
    #[arg(long, conflicts_with = "keys")]
    pub live: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
