//! The plugin that Helm 4 runs as a post-renderer.

use crate::command::arguments::only_client;
use crate::hint::ShellCommand;
use crate::local::{Readers, replace_for};
use crate::report::Printer;
use crate::{Error, Outcome};
use clap::{ArgAction, Args};
use std::path::PathBuf;

/// Write a plugin directory for Helm 4, whose post-renderers are plugins
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl twin plugin canary-twin && helm4 plugin install canary-twin
  canary-ctl twin plugin --dry-run canary-twin")]
pub(in crate::command) struct TwinPlugin {
    /// The directory, which is made
    pub(in crate::command) directory: PathBuf,
    /// Print the file, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
}

/// `plugin.yaml` (Helm 4, "Plugins", type `postrenderer/v1`). Arguments of `--post-renderer-args` come behind these.
const PLUGIN: &str = "\
apiVersion: v1
type: postrenderer/v1
name: canary-twin
version: 0.1.0
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: canary-ctl
      args: [twin, post-render]
";

pub(super) fn run(arguments: &TwinPlugin, printer: &mut Printer) -> Result<Outcome, Error> {
    if arguments.dry_run {
        printer.yaml(PLUGIN)?;
        return Ok(Outcome::Done);
    }
    let directory = &arguments.directory;
    let failed = |source| Error::File { action: "write", path: directory.clone(), source };
    std::fs::create_dir_all(directory).map_err(failed)?;
    replace_for(Readers::Everyone, &directory.join("plugin.yaml"), PLUGIN)?;
    printer.message(&format!("{} written", directory.join("plugin.yaml").display()));
    let install =
        ShellCommand::new("helm plugin install").quoted(&directory.display().to_string(), "DIRECTORY");
    printer.hint(&format!("{install}, then `helm upgrade … --post-renderer canary-twin`"));
    Ok(Outcome::Done)
}
