//! `init`: fills an example with the values of the flags and of the cluster, checks it by reading it, writes it; draws
//! keys.

mod fill;
mod import;
mod init_options;

use crate::command::arguments::only_client;
use crate::command::schema;
use crate::hint::ShellCommand;
use crate::local::{Environment, Readers, read_own_keys, replace_for, write_keys};
use crate::report::{Format, Printer};
use crate::{Error, Outcome};
use canary_release::config::{self, SigningKeys};
use canary_release::import::Peer;
use canary_release::spec::{Label, Mode, ReleaseName};
use canary_release::state::new_uid;
use canary_release::{file, input_file, manifest};
use clap::{ArgAction, ArgGroup, Args};
use init_options::InitOptions;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Write a commented canary.yaml, and keys where there are none yet
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("cluster").args(["from_cluster", "from_flagger", "from_argo"]), group = ArgGroup::new("peer").args(["from_flagger", "from_argo"]), after_help = "Examples:
  canary-ctl init --from-cluster --name shop --namespace shop --canary v2
  canary-ctl init --name shop --namespace shop --host shop.example.com \\
    --session-cookie JSESSIONID --canary v2
  canary-ctl init --name api --host api.example.com --jwt-claim sub --canary v2
  canary-ctl init --from-flagger canary.yaml --from-flagger templates.yaml \\
    --session-cookie JSESSIONID
  canary-ctl init --from-argo shop/cart --session-cookie JSESSIONID
  canary-ctl init --name shop --host localhost --session-cookie SESSION \\
    --canary v2 --local --endpoint v1=127.0.0.1:9001 \\
    --endpoint v2=127.0.0.1:9002

Next: `canary-ctl prepare`, `canary-ctl doctor`, `canary-ctl apply --wait`.")]
pub(super) struct Init {
    /// The release's name, and the Service's
    #[arg(long, required_unless_present_any = ["from_flagger", "from_argo"])]
    pub(super) name: Option<Label>,
    /// The namespace of the Service (default: default, or that of the imported object)
    #[arg(short, long)]
    pub(super) namespace: Option<Label>,
    /// Look at the Service, its pods and its routes on the cluster, and ask only for what they do not say
    #[arg(long, conflicts_with = "local")]
    pub(super) from_cluster: bool,
    /// Make it of a Canary of Flagger: a file with it and its `MetricTemplate`s, `-` for stdin, or [NAMESPACE/]NAME on the cluster; can be repeated
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["local", "module"])]
    pub(super) from_flagger: Vec<String>,
    /// Make it of a Rollout of Argo Rollouts: a file with it, its `AnalysisTemplate`s, Services and routes, or as above
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["local", "module"])]
    pub(super) from_argo: Vec<String>,
    /// The kubeconfig (default: as kubectl finds it, else the pod's service account)
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context in it (default: its current one)
    #[arg(long, value_name = "CONTEXT", requires = "cluster")]
    pub(super) context: Option<String>,
    /// A host name that its users type
    #[arg(long = "host", value_name = "HOST", required_unless_present_any = ["from_cluster", "from_flagger", "from_argo"])]
    pub(super) hosts: Vec<String>,
    #[command(flatten)]
    pub(super) key: Key,
    /// The version that everyone is on (default: v1, or what the cluster says)
    #[arg(long, value_name = "VERSION")]
    pub(super) stable: Option<String>,
    /// The version under test
    #[arg(long, value_name = "VERSION", required_unless_present_any = ["from_cluster", "from_flagger", "from_argo"])]
    pub(super) canary: Option<String>,
    /// The Gateway object that serves the host (default: istio-ingress/gateway, or what the cluster says)
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = gateway)]
    pub(super) gateway: Option<ReleaseName>,
    /// Whether browsers speak TLS with the host, at the gateway or in front of it (default: true, with --local false)
    #[arg(long, value_name = "BOOL")]
    pub(super) tls: Option<bool>,
    /// Where the filter's module is: a URL, or with --local a path (default: embedded, the one in this tool)
    #[arg(long)]
    pub(super) module: Option<String>,
    /// For one Envoy on this machine, without Kubernetes
    #[arg(long)]
    pub(super) local: bool,
    /// With --local: a process of a version
    #[arg(long = "endpoint", value_name = "VERSION=ADDRESS", requires = "local", value_parser = endpoint)]
    pub(super) endpoints: Vec<(String, SocketAddr)>,
    /// The file to write; `-` prints it
    #[arg(short, long, value_name = "FILE", default_value = "canary.yaml")]
    pub(super) file: PathBuf,
    /// Where to write the signing keys, unless the file exists (with --local they are in the local directory)
    #[arg(
        long = "signing-keys",
        value_name = "FILE",
        default_value = "signing-keys.json",
        conflicts_with = "local"
    )]
    pub(super) keys: PathBuf,
    /// Write canary.schema.json beside the file, and the line by which editors find it
    #[arg(long)]
    pub(super) schema: bool,
    /// Overwrite the file, and the schema; keys are never overwritten
    #[arg(long)]
    pub(super) force: bool,
    /// Print the file, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(super) dry_run: bool,
    /// The form of what an import says: its differences, its steps, the file
    #[arg(short = 'o', long = "output", value_name = "FORMAT", value_enum, requires = "peer")]
    pub(super) output: Option<Format>,
}

impl Init {
    /// The release's name. Fails if it is not given, which only an import may leave out.
    fn name(&self) -> Result<&Label, Error> {
        self.name
            .as_ref()
            .ok_or_else(|| Error::usage("expected a name of the release, found none", "give `--name NAME`"))
    }

    fn namespace(&self) -> &str {
        self.namespace.as_ref().map_or("default", Label::as_str)
    }

    /// The objects to import, if it is an import.
    fn peer(&self) -> Option<(Peer, &[String])> {
        let peers = [(Peer::Flagger, &self.from_flagger), (Peer::Argo, &self.from_argo)];
        peers.into_iter().find(|(_, named)| !named.is_empty()).map(|(peer, named)| (peer, named.as_slice()))
    }
}

/// The user key.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub(super) struct Key {
    /// The application's session cookie: sessions stay where they are
    #[arg(long, value_name = "NAME", required_unless_present_any = ["jwt_claim", "from_cluster", "from_flagger", "from_argo"])]
    pub(super) session_cookie: Option<String>,
    /// A claim of a JWT: users stay where the weight puts them
    #[arg(long, value_name = "CLAIM")]
    pub(super) jwt_claim: Option<String>,
}

fn endpoint(text: &str) -> Result<(String, SocketAddr), String> {
    let (version, address) =
        text.split_once('=').ok_or_else(|| format!("expected VERSION=ADDRESS, found `{text}`"))?;
    let address = address.parse().map_err(|_| format!("expected an address and port, found `{address}`"))?;
    Ok((version.to_owned(), address))
}

fn gateway(text: &str) -> Result<ReleaseName, String> {
    if !text.contains('/') {
        return Err(format!("expected NAMESPACE/NAME, found `{text}`"));
    }
    text.parse().map_err(|error| format!("{error}"))
}

pub(super) async fn run(arguments: &Init, printer: &mut Printer) -> Result<Outcome, Error> {
    if let Some(peer) = arguments.peer() {
        return import::run(arguments, peer, printer).await;
    }
    let uid = new_uid().map_err(config::Error::from)?;
    let wanted = if arguments.from_cluster {
        InitOptions::on_the_cluster(arguments, printer).await?
    } else {
        InitOptions::by_flags(arguments)?
    };
    let text = fill::example(&wanted, arguments, &uid).map_err(manifest::Error::from)?;
    let text = if arguments.schema { MODELINE.to_owned() + &text } else { text };
    let document = file::parse(&arguments.file, &text).map_err(|error| by_flag(error, &text, arguments))?;
    if arguments.dry_run || arguments.file == Path::new("-") {
        printer.yaml(&text)?;
        return Ok(Outcome::Done);
    }
    refuse_existing(&arguments.file, arguments.force)?;
    if arguments.schema {
        write_schema(arguments, printer)?;
    }
    replace_for(Readers::Everyone, &arguments.file, &text)?;
    printer.message(&format!("{} written", arguments.file.display()));
    if document.release.delivery.mode == Mode::Local {
        let environment = Environment::of(&document.release)?;
        environment.keys()?;
        printer.message(&format!("keys are in {}", environment.layout().keys().display()));
        let generate = of_file(ShellCommand::new("canary-ctl generate"), &arguments.file);
        printer.hint(&format!("{generate} writes Envoy's files"));
    } else if arguments.from_cluster {
        printer.hint(&next(&arguments.file));
    } else {
        let place = arguments.keys.display();
        // The cookies that existing ones have signed must stay valid.
        match read_own_keys(&arguments.keys)? {
            Some(_) => printer.message(&format!("the signing keys that {place} had are kept")),
            None => write_keys(&SigningKeys::draw().map_err(config::Error::from)?, &arguments.keys)?,
        }
        printer
            .message(&format!("signing keys are in {place}: keep the file secret and safe; without it all pins and tokens are invalid"));
        printer.hint(&next(&arguments.file));
    }
    Ok(Outcome::Done)
}

/// The road of a release on a cluster, which checks each step.
fn next(file: &Path) -> String {
    let steps = ["canary-ctl prepare", "canary-ctl doctor", "canary-ctl apply --wait"];
    let steps = steps.map(|step| of_file(ShellCommand::new(step), file).to_string());
    format!("next: {}", steps.join(", "))
}

/// A command that reads this file.
fn of_file(command: ShellCommand, file: &Path) -> ShellCommand {
    if file == Path::new("canary.yaml") {
        return command;
    }
    command.words("-f").quoted(&file.to_string_lossy(), "FILE")
}

/// An existing file is overwritten by force alone.
fn refuse_existing(file: &Path, force: bool) -> Result<(), Error> {
    if file.exists() && !force {
        let message = format!("{} is there already", file.display());
        return Err(Error::usage(message, "give `--force` to overwrite it, or `-f FILE` for another"));
    }
    Ok(())
}

/// The error of a flag whose value makes a file that is no release. The file is not written: its lines say nothing to a person.
fn by_flag(error: file::Error, text: &str, arguments: &Init) -> Error {
    let file::Error::Faulty { faults, .. } = &error else { return error.into() };
    let hosts = arguments.hosts.iter().map(|host| ("--host", host));
    let values = [
        ("--canary", &arguments.canary),
        ("--stable", &arguments.stable),
        ("--session-cookie", &arguments.key.session_cookie),
        ("--jwt-claim", &arguments.key.jwt_claim),
        ("--module", &arguments.module),
    ];
    let given: Vec<_> =
        values.iter().filter_map(|(flag, value)| Some((*flag, value.as_ref()?))).chain(hosts).collect();
    let found = faults.iter().find_map(|fault| {
        let line = text.lines().nth(fault.place.line.checked_sub(1)?)?;
        let is_meant = |value: &str| {
            let found = [format!("found `{value}`"), format!("found {value}")];
            line.contains(value) || found.iter().any(|found| fault.message.contains(found))
        };
        let (flag, _) = given.iter().find(|(_, value)| is_meant(value))?;
        Some((*flag, fault))
    });
    let Some((flag, fault)) = found else { return error.into() };
    let hint = fault.hint.clone().or_else(|| {
        let is_version = matches!(flag, "--canary" | "--stable");
        is_version.then(|| "a version is a label of pods: letters, digits, `-`, `_`, `.`, with a letter or digit at both ends".to_owned())
    });
    Error::Usage { message: format!("`{flag}`: {}", fault.message), hint }
}

const FILE: &str = "canary.schema.json";

/// The line that the YAML language server looks for at the beginning of a file. It names a file and no address: there is none from which a schema
/// of this version is served, and an editor that fetches one from elsewhere would complete the fields of another version.
const MODELINE: &str = "# yaml-language-server: $schema=canary.schema.json\n";

/// Writes the schema beside the file. Another file of its name is replaced only by force.
fn write_schema(arguments: &Init, printer: &mut Printer) -> Result<(), Error> {
    let (path, text) = (arguments.file.with_file_name(FILE), schema::text()?);
    match input_file::read(&path) {
        Ok(there) if there == text => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ if arguments.force => {}
        Ok(_) => {
            let message = format!("{} is there already, and another one", path.display());
            return Err(Error::usage(
                message,
                "give `--force` to overwrite it; one of another version of this tool differs, too",
            ));
        }
        Err(source) => return Err(Error::File { action: "read", path, source }),
    }
    replace_for(Readers::Everyone, &path, &text)?;
    printer.message(&format!("{} written", path.display()));
    Ok(())
}
