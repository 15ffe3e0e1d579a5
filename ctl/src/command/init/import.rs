//! `init --from-flagger`, `--from-argo`: a first file from what a team has, and what differs.

use super::{Init, MODELINE, refuse_existing, write_schema};
use crate::command::arguments::report_silence;
use crate::local::{Readers, replace_for};
use crate::report::{Format, ImportReport, Printer, escape};
use crate::{Error, Outcome, hint};
use canary_operations::{Access, Cluster, PeerObjects, WriteOptions};
use canary_release::import::{Import, ImportOptions, MoveStep, Peer, SourceText};
use canary_release::state::new_uid;
use canary_release::{config, input_file};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A source: its name, its text, and whether its lines are those of a file.
type Source = (String, String, bool);

pub(super) async fn run(
    arguments: &Init,
    (peer, named): (Peer, &[String]),
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    printer.format = arguments.output.unwrap_or_default();
    let mut options = options(arguments)?;
    let mut sources: Vec<Source> = Vec::new();
    for name in named {
        sources.push(source(arguments, peer, name, &mut options).await?);
    }
    let texts: Vec<SourceText<'_>> = sources
        .iter()
        .map(|(name, text, has_lines)| SourceText { name, text, has_lines: *has_lines })
        .collect();
    let mut import = Import::of(peer, &texts, &options)?;
    if arguments.schema {
        import.release.insert_str(0, MODELINE);
    }
    let outcome = if import.keeps_guards() { Outcome::Done } else { Outcome::Differences };
    let is_printed = arguments.dry_run || arguments.file == Path::new("-");
    if is_printed && printer.format == Format::Text {
        printer.yaml(&import.release)?;
        printer.yaml(&steps_text(&import.steps)?)?;
        ImportReport(&import).lines().iter().for_each(|line| printer.message(line));
        return Ok(outcome);
    }
    if !is_printed {
        write(arguments, &import, printer)?;
    }
    printer.report(&ImportReport(&import))?;
    if outcome == Outcome::Differences {
        printer.message("guards of users are lost: exit code 1");
    }
    Ok(outcome)
}

fn options(arguments: &Init) -> Result<ImportOptions, Error> {
    Ok(ImportOptions {
        uid: new_uid().map_err(config::Error::from)?,
        name: arguments.name.as_ref().map(ToString::to_string),
        namespace: arguments.namespace.as_ref().map(ToString::to_string),
        hosts: arguments.hosts.clone(),
        gateway: arguments.gateway.as_ref().map(ToString::to_string),
        stable: arguments.stable.clone(),
        canary: arguments.canary.clone(),
        session_cookie: arguments.key.session_cookie.clone(),
        jwt_claim: arguments.key.jwt_claim.clone(),
        tls: arguments.tls,
    })
}

/// True if it names a file: stdin, one that is there, or a name as only files have.
fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    let has_extension =
        path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known));
    name == "-" || has_extension || name.starts_with(['.', '/']) || path.is_file()
}

async fn source(
    arguments: &Init,
    peer: Peer,
    name: &str,
    options: &mut ImportOptions,
) -> Result<Source, Error> {
    if name == "-" {
        let path = PathBuf::from("stdin");
        let text = input_file::read_from(std::io::stdin().lock());
        let text = text.map_err(|source| Error::File { action: "read", path, source })?;
        return Ok(("stdin".to_owned(), text, true));
    }
    if is_file(name) {
        let path = PathBuf::from(name);
        let text = input_file::read(&path).map_err(|source| Error::File { action: "read", path, source })?;
        return Ok((name.to_owned(), text, true));
    }
    let (namespace, object) = match name.split_once('/') {
        Some((namespace, object)) => (Some(namespace.to_owned()), object.to_owned()),
        None => (options.namespace.clone(), name.to_owned()),
    };
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let text = from_cluster(arguments, peer, (&namespace, &object)).await?;
    (options.name, options.namespace) = (Some(object), Some(namespace));
    Ok(("cluster".to_owned(), text, false))
}

async fn from_cluster(
    arguments: &Init,
    peer: Peer,
    (namespace, name): (&str, &str),
) -> Result<String, Error> {
    let (kubeconfig, context) = (arguments.kubeconfig.clone(), arguments.context.clone());
    let access = Access { kubeconfig, context, on_silence: Some(report_silence), ..Access::default() };
    let cluster = Cluster::connect(&access, WriteOptions::default()).await?;
    let kind = match peer {
        Peer::Flagger => "Canary",
        Peer::Argo => "Rollout",
    };
    match cluster.peer_objects(peer, namespace, name).await? {
        PeerObjects::Found(objects) => {
            let list = serde_json::json!({"kind": "List", "items": objects});
            Ok(list.to_string())
        }
        PeerObjects::NoObject => Err(Error::usage(
            format!("expected {kind} `{namespace}/{name}` on the cluster, found none"),
            "give NAMESPACE/NAME, or the name of a file",
        )),
        PeerObjects::NoKind => Err(Error::usage(
            format!(
                "expected the kind {kind} on the cluster, found none: its custom resource definition is not installed"
            ),
            "give the name of a file, or another cluster by `--context`",
        )),
    }
}

fn write(arguments: &Init, import: &Import, printer: &mut Printer) -> Result<(), Error> {
    let steps = steps_file(&arguments.file);
    refuse_existing(&arguments.file, arguments.force)?;
    refuse_existing(&steps, arguments.force)?;
    if arguments.schema {
        write_schema(arguments, printer)?;
    }
    replace_for(Readers::Everyone, &arguments.file, &import.release)?;
    printer.message(&format!("{} written", arguments.file.display()));
    replace_for(Readers::Everyone, &steps, &steps_text(&import.steps)?)?;
    printer.message(&format!(
        "{} written: objects to apply one after the other, each with why",
        steps.display()
    ));
    Ok(())
}

/// `canary.yaml` has its steps in `canary-steps.yaml`.
fn steps_file(file: &Path) -> PathBuf {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    file.with_file_name(format!("{stem}-steps.yaml"))
}

fn steps_text(steps: &[MoveStep]) -> Result<String, Error> {
    let mut text =
        "# What the move needs beside the release, in this order. Each document by itself, with\n#     kubectl apply --server-side --force-conflicts -f FILE\n# An apply without these flags keeps what the other tool has written, such as labels in the selector of a Service.\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let separator = if step.object.is_some() { "---\n" } else { "" };
        let _ = writeln!(text, "{separator}# {}. {}", index + 1, escape::line(&step.why));
        if let Some(action) = &step.action {
            let _ = writeln!(text, "#    {}", hint::move_command(action));
        }
        if let Some(object) = &step.object {
            text.push_str(&placed_yaml::block(object).map_err(crate::report::Error::Yaml)?);
        }
    }
    Ok(text)
}
