//! `canary-ctl explain`.

use super::{ClusterAccess, Keys, Output, SpecFile};
use crate::explain::Claim;
use assignment::Weight;
use clap::Args;
use jiff::Timestamp;

/// Say which version a request would get, and why
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl explain --cookie 'JSESSIONID=4b1d7c0e5f; lang=de'\n  \
    canary-ctl explain --curl \"curl 'https://shop.example.com/cart' -b 'JSESSIONID=4b1d7c0e5f'\"\n  \
    canary-ctl explain --cookie JSESSIONID=4b1d7c0e5f --weight 50 -o json\n  \
    canary-ctl explain --live --cookie JSESSIONID=4b1d7c0e5f\n\n\
    Exits 1 where no release matches host and path.")]
pub struct Explain {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The request's host (default: the release's first)
    #[arg(long)]
    pub host: Option<String>,
    /// Path and query
    #[arg(long)]
    pub path: Option<String>,
    /// The method
    #[arg(long)]
    pub method: Option<String>,
    /// Cookies as a browser sends them, `a=b; c=d`; repeated, they are several lines
    #[arg(long = "cookie", value_name = "COOKIES")]
    pub cookies: Vec<String>,
    /// A header, `Name: value`; can be repeated
    #[arg(short = 'H', long = "header", value_name = "LINE")]
    pub headers: Vec<String>,
    /// A `curl` command, as a browser's tools copy it for a POSIX shell
    #[arg(long, value_name = "COMMAND")]
    pub curl: Option<String>,
    /// The client's address
    #[arg(long, value_name = "ADDRESS")]
    pub client_address: Option<std::net::IpAddr>,
    /// A verified claim, `sub=alice`; can be repeated
    #[arg(long = "claim", value_name = "CLAIM")]
    pub claims: Vec<Claim>,
    /// The moment, like 2026-11-21T18:00:00Z (default: now)
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
    /// What if this were the weight, in percent
    #[arg(long, value_name = "PERCENT")]
    pub weight: Option<Weight>,
    /// As a sidecar inside the mesh decides, and not the gateway
    #[arg(long)]
    pub inside_mesh: bool,
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
