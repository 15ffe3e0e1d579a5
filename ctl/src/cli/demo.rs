//! `canary-ctl demo`.

use clap::Args;
use std::path::PathBuf;

/// Start an Envoy, two versions of a shop and a crowd of shoppers, and watch users being moved
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl demo                      keep running; change the weight from a second terminal\n  \
    canary-ctl demo --once               the whole story by itself, in about 35 seconds\n\n\
    In a checkout, `./x demo` builds and gets everything it needs. With --once it exits 0 where all that it shows is \
    what the release promises, 1 where something is not, 2 where it could not run.")]
pub struct Demo {
    /// Walk the weight up and down by itself, check what users saw, and end
    #[arg(long)]
    pub once: bool,
    /// How many shoppers arrive at each weight (with --once), or in ten seconds
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(50..=2000))]
    pub users: u32,
    /// The Envoy to start (default: the newest in .tools/envoy, else the one on the PATH)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_ENVOY")]
    pub envoy: Option<PathBuf>,
    /// The filter's module (default: in target/wasm)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_FILTER")]
    pub filter: Option<PathBuf>,
    /// The demo shop (default: beside this program)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_SHOP")]
    pub shop: Option<PathBuf>,
}
