//! `init`: what is asked for or found on the cluster, an example filled in with it, checked by reading it, written; keys.

mod fill;
mod wanted;

use crate::cli::Init;
use crate::config::{KeyRing, new_uid};
use crate::local::{Environment, Readers, replace_for};
use crate::report::Printer;
use crate::spec::Mode;
use crate::{Error, Outcome, config, manifest, spec};
use std::path::Path;
use wanted::Wanted;

pub(super) async fn run(arguments: &Init, printer: &mut Printer) -> Result<Outcome, Error> {
    let uid = new_uid().map_err(config::Error::from)?;
    let wanted = if arguments.from_cluster {
        Wanted::on_the_cluster(arguments, printer).await?
    } else {
        Wanted::by_flags(arguments)?
    };
    let text = fill::example(&wanted, arguments, &uid).map_err(manifest::Error::from)?;
    // What comes from flags can be wrong too, and is told in the same words.
    let document = spec::parse(&arguments.file, &text)?;
    if arguments.dry_run {
        printer.data(&text)?;
        return Ok(Outcome::Done);
    }
    if arguments.file.exists() && !arguments.force {
        let message = format!("{} is there already", arguments.file.display());
        return Err(Error::usage(message, "give `--force` to overwrite it, or `-f FILE` for another"));
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
        draw_keys(&arguments.keys)?;
        printer
            .message(&format!("keys are in {}: keep them secret, and keep them", arguments.keys.display()));
        printer.hint(&format!(
            "`canary-ctl prepare` makes running proxies ready for a first filter; then `canary-ctl generate --keys {} | kubectl apply --server-side -f -`",
            arguments.keys.display()
        ));
    }
    Ok(Outcome::Done)
}

/// Keys that are there already have signed cookies that have to go on counting.
fn draw_keys(path: &Path) -> Result<(), Error> {
    if path.exists() {
        KeyRing::read(path).map_err(config::Error::from)?;
        return Ok(());
    }
    let keys = KeyRing::draw().map_err(config::Error::from)?;
    keys.write(path)?;
    Ok(())
}
