//! Which guards may not refuse what is asked.

use crate::plan::Guard;
use clap::Args;

/// Which guards may not refuse what is asked.
#[derive(Clone, Debug, Default, Args)]
pub struct Guards {
    /// Do it although this guard refuses; give it again for another
    #[arg(long = "override", value_name = "GUARD", value_enum)]
    pub overridden: Vec<Guard>,
}
