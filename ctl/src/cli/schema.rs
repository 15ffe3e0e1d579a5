//! `canary-ctl schema`.

use clap::Args;

/// Print the JSON Schema of canary.yaml, for editors
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl schema > canary.schema.json\n\n\
    An editor with the YAML language server takes it where the file begins with\n  \
    # yaml-language-server: $schema=canary.schema.json\n\
    `canary-ctl init --schema` writes both. `canary-ctl lint` also checks what fields say together.")]
pub struct Schema {}
