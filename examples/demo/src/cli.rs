//! What the command line may say.

use clap::Parser;
use std::path::PathBuf;

/// Start an Envoy, two versions of a shop and a crowd of shoppers, and show what a weight change does to them
#[derive(Clone, Debug, Parser)]
#[command(name = "demo", version, max_term_width = 100)]
#[command(
    after_help = "Examples, in a checkout, where `./x demo` builds and gets everything that it needs:\n  \
    ./x demo                      keep running; change the weight from a second terminal\n  \
    ./x demo --once               run all weights and check the results, in about 35 seconds\n\n\
    Exit codes: 0 all checks passed, 1 a check failed, 2 error, 130 interrupted."
)]
pub(crate) struct Cli {
    /// Change the weight up and down, check what users saw, and end
    #[arg(long)]
    pub(crate) once: bool,
    /// How many shoppers arrive at each weight (with --once), or in ten seconds
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(50..=2000))]
    pub(crate) users: u32,
    /// The Envoy to start (default: the newest in .tools/envoy, else the one on the PATH)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_ENVOY")]
    pub(crate) envoy: Option<PathBuf>,
    /// The filter's module (default: in target/wasm)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_FILTER")]
    pub(crate) filter: Option<PathBuf>,
    /// The demo shop (default: beside this program)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_SHOP")]
    pub(crate) shop: Option<PathBuf>,
    /// The command-line tool (default: beside this program)
    #[arg(long, value_name = "PATH", env = "CANARY_DEMO_CANARY_CTL")]
    pub(crate) canary_ctl: Option<PathBuf>,
}
