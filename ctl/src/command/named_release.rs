//! Which release a command line is about: that of a file, one by its name, or both.

use super::arguments::{ClusterAccess, ReleaseArguments, SpecFile};
use super::target::{check_namespace, for_a_cluster, is_local};
use crate::hint::ShellCommand;
use crate::report::Printer;
use crate::{Error, module};
use canary_release::file::{self, Document};
use canary_release::spec::ReleaseName;
use std::path::Path;

/// The handling of a `canary.yaml` that is not valid, where the release is named and no file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidFile {
    /// It stops with the faults of the file.
    Refused,
    /// It prints that it goes on without the file: an emergency, or a question.
    Ignored,
}

/// A release that a command line names.
pub(super) struct NamedRelease {
    pub(super) name: ReleaseName,
    /// Its file, where there is one.
    pub(super) document: Option<Document>,
}

impl NamedRelease {
    /// The file, where it describes a release of a local Envoy.
    pub(super) fn local(&self) -> Option<&Document> {
        self.document.as_ref().filter(|document| is_local(document))
    }
}

/// The hint for a release without a file.
const NAME_IT: &str = "`-r NAMESPACE/NAME` needs no file, and `canary-ctl list` prints the names; `-f FILE` names the file of a release";

/// The namespace of a call that names none, as `kubectl` has it.
const DEFAULT_NAMESPACE: &str = "default";

/// Finds the release. The default file counts where it describes the release that is named; one that `-f` names has to.
pub(super) fn find(
    of: &ReleaseArguments,
    access: &ClusterAccess,
    invalid: InvalidFile,
) -> Result<NamedRelease, Error> {
    let document = load(of, invalid)?;
    let Some(asked) = of.asked() else {
        let document = document.ok_or_else(|| Error::usage("expected the name of a release", NAME_IT))?;
        check_namespace(&document, access)?;
        return Ok(NamedRelease { name: document.release.name.clone(), document: Some(document) });
    };
    let name = named(asked, access, document.as_ref())?;
    // A local Envoy may have several releases, each under its name.
    let is_about = |document: &Document| is_local(document) || document.release.name == name;
    match document {
        Some(document) if !is_about(&document) && !is_default(of) => {
            let (file, found) = (of.spec.file.display(), &document.release.name);
            let message = format!("expected the file of `{name}`, found that of `{found}` in {file}");
            Err(Error::usage(message, "leave `-f` out, or the name"))
        }
        document => {
            let document = document.filter(is_about);
            Ok(NamedRelease { name, document })
        }
    }
}

fn is_default(of: &ReleaseArguments) -> bool {
    of.spec.file == Path::new(SpecFile::DEFAULT)
}

/// Reads the file of a release. None where there is no file and a name is given: its record is on the cluster, and who stops a canary
/// may be at another machine than who began it. A file that `-f` names has to be there.
fn load(of: &ReleaseArguments, invalid: InvalidFile) -> Result<Option<Document>, Error> {
    let is_named = of.asked().is_some();
    if is_default(of) && !of.spec.file.exists() {
        if is_named {
            return Ok(None);
        }
        return Err(Error::usage(
            "expected the name of a release, found none, and no canary.yaml here",
            NAME_IT,
        ));
    }
    match module::load(&of.spec.file) {
        Err(error) if is_named && is_default(of) && invalid == InvalidFile::Ignored => {
            Printer::of_process().message(&format!("goes on without the file: {}", first_fault(&error)));
            Ok(None)
        }
        Err(file::Error::Unreadable { path, source }) => {
            Err(Error::usage(format!("cannot read {}: {source}", path.display()), NAME_IT))
        }
        loaded => Ok(Some(loaded?)),
    }
}

/// The first fault of a file, in one line.
fn first_fault(error: &file::Error) -> String {
    match error {
        file::Error::Unreadable { path, source } => format!("cannot read {}: {source}", path.display()),
        faulty @ file::Error::Faulty { .. } => {
            faulty.to_string().lines().next().unwrap_or_default().to_owned()
        }
    }
}

/// Whether a word is the name of a file in the place of that of a release.
pub(super) fn is_file_name(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Reads `[NAMESPACE/]NAME`.
fn named(asked: &str, access: &ClusterAccess, document: Option<&Document>) -> Result<ReleaseName, Error> {
    if is_file_name(asked) {
        let hint = format!("{} reads a file", ShellCommand::new("-f").quoted(asked, "FILE"));
        return Err(Error::usage(format!("expected the name of a release, found `{asked}`"), hint));
    }
    if asked == "%" {
        return Err(Error::usage("expected the name of a release, found `%`", "write `20%` or `20`"));
    }
    let (namespace, name) = match (asked.split_once('/'), &access.namespace) {
        (Some((namespace, _)), Some(flag)) if namespace != flag.as_str() => {
            let message = format!(
                "expected one namespace, found `{namespace}` in `{asked}` and `{flag}` in `-n {flag}`"
            );
            return Err(Error::usage(message, "leave one of them out"));
        }
        (Some((namespace, name)), _) => (namespace.to_owned(), name),
        (None, Some(flag)) => (flag.to_string(), asked),
        (None, None) => (namespace_of(asked, access, document)?, asked),
    };
    let expected = "give NAMESPACE/NAME, or NAME and `-n NAMESPACE`; `canary-ctl list` prints the names";
    format!("{namespace}/{name}").parse().map_err(|error| Error::usage(format!("{error}"), expected))
}

/// The namespace of a name without one: that of its file, else that of the context, as `kubectl` takes it.
///
/// # Errors
///
/// If the two differ: one of them is another release.
fn namespace_of(name: &str, access: &ClusterAccess, document: Option<&Document>) -> Result<String, Error> {
    let file = document.filter(|document| is_local(document) || document.release.name.name.as_str() == name);
    let own = file.map(|document| document.release.name.namespace.to_string());
    if file.is_some_and(is_local) {
        return Ok(own.unwrap_or_default());
    }
    match (own, access.access().namespace()) {
        (Some(own), Ok(Some(context))) if own != context => Err(Error::usage(
            format!(
                "expected NAMESPACE/NAME, found `{name}`: it is `{own}/{name}` in the file, and `{context}/{name}` in the namespace of the context"
            ),
            format!("give `{own}/{name}` or `{context}/{name}`"),
        )),
        // A kubeconfig that cannot be used is an error of the connection.
        (Some(own), _) => Ok(own),
        (None, context) => Ok(context?.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())),
    }
}

/// Reads the file of a release on a cluster, for a verb that needs it. A name beside it has to be that of the file.
pub(super) fn with_file(of: &ReleaseArguments, access: &ClusterAccess) -> Result<Document, Error> {
    let document = module::load(&of.spec.file)?;
    for_a_cluster(&document)?;
    let Some(asked) = of.asked() else {
        check_namespace(&document, access)?;
        return Ok(document);
    };
    let (name, found) = (named(asked, access, Some(&document))?, &document.release.name);
    if name == *found {
        return Ok(document);
    }
    let message = format!("expected the file of `{name}`, found that of `{found}`");
    Err(Error::usage(message, "`-f` names the file of a release"))
}
