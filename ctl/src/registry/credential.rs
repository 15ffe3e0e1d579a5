//! Whom to be at a registry: what Docker's configuration has of it (`auths`, `credHelpers`, `credsStore`), or a name and a password.

use docker_credential::{CredentialRetrievalError as Found, DockerCredential};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;

/// The largest configuration of Docker, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// What helpers print where they have nothing (docker-credential-helpers, `credentials/error.go`).
const NOTHING_THERE: &str = "credentials not found";

/// Proves who somebody is. No `Debug`: it would be printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum RegistryCredential {
    /// A name and a password.
    Password { username: String, password: String },
    /// What a login has left: it buys tokens.
    IdentityToken(String),
}

/// Where credentials come from, if the registry asks for them.
pub(crate) enum CredentialSource {
    /// These.
    Given(RegistryCredential),
    /// Docker's configuration.
    Docker,
}

/// Why credentials cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// Docker's configuration cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no configuration of Docker.
    #[error("expected Docker's configuration in {}, found other data", .0.display())]
    Invalid(PathBuf),
    /// Its credentials are not encoded as Docker does it.
    #[error("expected `auth` of {server} in {} to be `NAME:PASSWORD` in base64, found other data", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The registry.
        server: String,
    },
    /// The program that keeps them has none, or does not work.
    #[error("the credential helper that {} names for {server} failed: {reason}", path.display())]
    Helper {
        /// The file.
        path: PathBuf,
        /// The registry.
        server: String,
        /// What it said.
        reason: String,
    },
}

impl CredentialSource {
    /// The credential for a registry, by the name that Docker has for it. `None` if there is none.
    ///
    /// A helper may wait for a person, so this blocks.
    ///
    /// # Errors
    ///
    /// If Docker's configuration cannot be read, or its helper fails; not if there is no configuration.
    pub(crate) fn credential(&self, server: &str) -> Result<Option<RegistryCredential>, CredentialError> {
        match self {
            Self::Given(credential) => Ok(Some(credential.clone())),
            Self::Docker => match config_path() {
                Some(path) => of_docker(path, server),
                None => Ok(None),
            },
        }
    }
}

/// `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`.
fn config_path() -> Option<PathBuf> {
    let is_set = |folder: &std::ffi::OsString| !folder.is_empty();
    let home = || std::env::var_os("HOME").filter(is_set).map(|home| PathBuf::from(home).join(".docker"));
    let folder = std::env::var_os("DOCKER_CONFIG").filter(is_set).map(PathBuf::from).or_else(home)?;
    Some(folder.join("config.json"))
}

fn of_docker(path: PathBuf, server: &str) -> Result<Option<RegistryCredential>, CredentialError> {
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CredentialError::Unreadable { path, source }),
    };
    let found = docker_credential::get_credential_from_reader(file.take(MAX_CONFIG_BYTES), server);
    let server = server.to_owned();
    let failed =
        |path, server, reason: &str| CredentialError::Helper { path, server, reason: reason.to_owned() };
    match found {
        Ok(DockerCredential::IdentityToken(token)) => Ok(Some(RegistryCredential::IdentityToken(token))),
        Ok(DockerCredential::UsernamePassword(username, password)) => {
            Ok(Some(RegistryCredential::Password { username, password }))
        }
        Err(Found::NoCredentialConfigured) => Ok(None),
        Err(Found::HelperFailure { stdout, stderr, .. })
            if stdout.contains(NOTHING_THERE) || stderr.contains(NOTHING_THERE) =>
        {
            Ok(None)
        }
        Err(Found::HelperFailure { stdout, stderr, .. }) => {
            let said = if stderr.trim().is_empty() { stdout } else { stderr };
            let first = said.trim().lines().next().unwrap_or("it gave no reason").chars().take(200);
            Err(failed(path, server, &first.collect::<String>()))
        }
        Err(Found::HelperCommunicationError) => Err(failed(path, server, "it cannot be run")),
        Err(Found::MalformedHelperResponse) => {
            Err(failed(path, server, "expected JSON with `Username` and `Secret`, found other data"))
        }
        Err(Found::CredentialDecodingError | Found::CredentialMismatchError) => {
            Err(CredentialError::Encoding { path, server })
        }
        Err(Found::ConfigNotFound | Found::ConfigReadError) => Err(CredentialError::Invalid(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What a configuration has of `registry.test`, in words.
    fn found(folder: &Path, config: &str) -> String {
        let path = folder.join("config.json");
        std::fs::write(&path, config).unwrap();
        match of_docker(path, "registry.test") {
            Ok(None) => "none".to_owned(),
            Ok(Some(RegistryCredential::Password { username, password })) => format!("{username}:{password}"),
            Ok(Some(RegistryCredential::IdentityToken(token))) => format!("token {token}"),
            Err(error) => error.to_string().replace(&folder.display().to_string(), "FOLDER"),
        }
    }

    #[test]
    fn logins_are_read_as_docker_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        for (config, expected) in [
            ("{}", "none"),
            (r#"{"auths": {"other.test": {"auth": "YTpi"}}}"#, "none"),
            (r#"{"auths": {"registry.test": {"auth": "YTpi"}}}"#, "a:b"),
            (r#"{"auths": {"https://registry.test/": {"auth": "YTpi"}}}"#, "a:b"),
            (r#"{"auths": {"registry.test": {"auth": "YTo=", "identitytoken": "x"}}}"#, "token x"),
            (
                r#"{"auths": {"registry.test": {"auth": "!"}}}"#,
                "expected `auth` of registry.test in FOLDER/config.json to be `NAME:PASSWORD` in base64, found other data",
            ),
            ("[1]", "expected Docker's configuration in FOLDER/config.json, found other data"),
        ] {
            assert_eq!(found(folder.path(), config), expected, "{config}");
        }
        assert!(of_docker(folder.path().join("missing"), "registry.test").unwrap().is_none());
    }
}
