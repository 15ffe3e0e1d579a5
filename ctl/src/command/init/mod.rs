//! `init`: fills an example with the values of the flags and of the cluster, checks it by reading it, writes it; draws
//! keys.

mod editor;
mod fill;
mod init_options;

use crate::cli::Init;
use crate::hint::ShellCommand;
use crate::local::{Environment, Readers, read_own_keys, replace_for, write_keys};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::config::{self, SigningKeys};
use canary_release::spec::Mode;
use canary_release::state::new_uid;
use canary_release::{file, manifest};
use init_options::InitOptions;

pub(super) async fn run(arguments: &Init, printer: &mut Printer) -> Result<Outcome, Error> {
    let uid = new_uid().map_err(config::Error::from)?;
    let wanted = if arguments.from_cluster {
        InitOptions::on_the_cluster(arguments, printer).await?
    } else {
        InitOptions::by_flags(arguments)?
    };
    let text = fill::example(&wanted, arguments, &uid).map_err(manifest::Error::from)?;
    let text = if arguments.schema { editor::MODELINE.to_owned() + &text } else { text };
    // Values of flags can be invalid too, and get the same messages.
    let document = file::parse(&arguments.file, &text)?;
    if arguments.dry_run {
        printer.yaml(&text)?;
        return Ok(Outcome::Done);
    }
    if arguments.file.exists() && !arguments.force {
        let message = format!("{} is there already", arguments.file.display());
        return Err(Error::usage(message, "give `--force` to overwrite it, or `-f FILE` for another"));
    }
    if arguments.schema {
        editor::write_schema(arguments, printer)?;
    }
    replace_for(Readers::Everyone, &arguments.file, &text)?;
    printer.message(&format!("{} written", arguments.file.display()));
    if document.release.delivery.mode == Mode::Local {
        let environment = Environment::of(&document.release)?;
        environment.keys()?;
        printer.message(&format!("keys are in {}", environment.layout().keys().display()));
        printer.hint("`canary-ctl generate` writes Envoy's files");
    } else if arguments.from_cluster {
        printer.hint(
            "`canary-ctl diff` shows what `canary-ctl apply` writes; it draws the keys, on the cluster",
        );
    } else {
        let place = arguments.keys.display();
        // The cookies that existing ones have signed must stay valid.
        match read_own_keys(&arguments.keys)? {
            Some(_) => printer.message(&format!("the signing keys that {place} had are kept")),
            None => write_keys(&SigningKeys::draw().map_err(config::Error::from)?, &arguments.keys)?,
        }
        printer
            .message(&format!("signing keys are in {place}: keep the file secret and safe; without it all pins and tokens are invalid"));
        let generate = ShellCommand::new("canary-ctl generate --signing-keys")
            .quoted(&arguments.keys.display().to_string(), "FILE")
            .words("| kubectl apply --server-side -f -");
        printer.hint(&format!(
            "`canary-ctl prepare` makes running proxies ready for a first filter; then {generate}"
        ));
    }
    Ok(Outcome::Done)
}
