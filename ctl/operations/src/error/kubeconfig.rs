//! Why a kubeconfig leads to no API server, and why there are no credentials for one.

use std::path::PathBuf;

/// A fault of a kubeconfig.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// It is no kubeconfig.
    #[error(transparent)]
    Invalid(#[from] kube::config::KubeconfigError),
    /// No file was named, and the user has no home.
    #[error("expected a kubeconfig, found neither KUBECONFIG nor a home directory")]
    NoHome,
    /// It has no such context.
    #[error("expected context {}, found {}", quoted(name.as_deref()), listed(known))]
    NoContext {
        /// The context; `None` for the current one, if none is current.
        name: Option<String>,
        /// The contexts that there are.
        known: Vec<String>,
    },
    /// A context names a cluster that is not there.
    #[error("context `{context}`: expected cluster `{cluster}`, found none")]
    NoCluster {
        context: String,
        /// The cluster's name.
        cluster: String,
    },
    /// The address of the API server is none.
    #[error("`server`: expected https://HOST:PORT or HOST:PORT, found `{found}`")]
    Server {
        /// The value that is there.
        found: String,
    },
    /// The address of a proxy is none, or of another kind.
    #[error(
        "{setting}: expected a proxy as http://, https://, socks5:// or socks5h://HOST:PORT, found `{found}`"
    )]
    Proxy {
        /// `proxy-url`, or the name of the variable.
        setting: &'static str,
        /// The value that is there, without user and password.
        found: String,
    },
    /// A certificate authority without a certificate.
    #[error("`certificate-authority`: expected certificates in PEM, found {found}")]
    Authority {
        /// The fault.
        found: String,
    },
    /// Its certificates, keys or headers are not accepted.
    #[error(transparent)]
    Client(#[from] Box<kube::Error>),
}

/// The reason for which there are no credentials for the API server.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// A token that no header can carry.
    #[error("{setting}: expected a token in one line of visible characters, found other characters in it")]
    Token {
        /// Its origin.
        setting: String,
    },
    /// A file with a token cannot be read.
    #[error("`tokenFile` {}", file.display())]
    TokenFile { file: PathBuf, source: std::io::Error },
    /// A credential plugin has no program, or is of another version.
    #[error("`{setting}`: expected {expected}, found {found}")]
    Plugin {
        /// `exec` or `auth-provider`.
        setting: &'static str,
        /// The needed value.
        expected: &'static str,
        /// The value that is there.
        found: String,
    },
    #[error("the credential plugin `{command}` is not installed")]
    NotInstalled {
        /// Its program.
        command: String,
        /// The kubeconfig's hint for its installation.
        install_hint: Option<String>,
    },
    #[error("the credential plugin `{command}` cannot be started")]
    NotStarted {
        /// Its program.
        command: String,
        source: std::io::Error,
    },
    #[error("the credential plugin `{command}` failed ({status}){}", said(stderr))]
    Failed {
        /// Its program.
        command: String,
        status: std::process::ExitStatus,
        /// The end of what it wrote to stderr, where that was not shown.
        stderr: String,
    },
    /// A credential plugin prints something else than it was asked for.
    #[error("the credential plugin `{command}`: expected {expected}, found {found}")]
    Answer {
        /// Its program.
        command: String,
        /// The requested value.
        expected: String,
        /// The printed value.
        found: String,
    },
}

fn quoted(name: Option<&str>) -> String {
    name.map_or_else(|| "`current-context`".to_owned(), |name| format!("`{name}`"))
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return "no context".to_owned();
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("these: {}", names.join(", "))
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
