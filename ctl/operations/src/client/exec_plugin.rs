//! Credential plugins: programs that a kubeconfig names, and that print a token or a certificate.
//!
//! `kube` runs one three times for a client, compares no versions, and panics on a token with a line break.
//!
//! # Source
//! [client-go credential plugins](https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins)

use crate::error::CredentialError;
use jiff::Timestamp;
use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;
use std::io::{ErrorKind, IsTerminal as _};
use std::process::{Output, Stdio};
use tokio::process::Command;

/// The versions of the protocol that `kubectl` has.
const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
/// The most of a plugin's stderr that an error repeats, in characters.
const MAX_STDERR: usize = 600;

/// The printed credential of a plugin.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PluginCredential {
    pub(super) token: Option<String>,
    pub(super) expiration_timestamp: Option<Timestamp>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<PluginCredential>,
}

/// Runs a plugin.
///
/// # Errors
///
/// If it is not there, fails, or prints no credential of the version that the kubeconfig names.
pub(super) async fn run(plugin: &ExecConfig) -> Result<PluginCredential, CredentialError> {
    let version = plugin.api_version.clone().unwrap_or_default();
    if !VERSIONS.contains(&version.as_str()) {
        let expected = "`apiVersion: client.authentication.k8s.io/v1` or v1beta1";
        return Err(CredentialError::Plugin { setting: "exec", expected, found: format!("`{version}`") });
    }
    let command = plugin.command.clone().unwrap_or_default();
    if command.is_empty() {
        return Err(CredentialError::Plugin {
            setting: "exec",
            expected: "`command`",
            found: "none".to_owned(),
        });
    }
    let output = output(plugin, &command, &version).await?;
    if !output.status.success() {
        let stderr = end(&String::from_utf8_lossy(&output.stderr));
        return Err(CredentialError::Failed { command, status: output.status, stderr });
    }
    credential(&command, &version, &output.stdout)
}

/// Runs it. Its stderr is shown if a person may have to act on it, and else kept for the error.
async fn output(plugin: &ExecConfig, command: &str, version: &str) -> Result<Output, CredentialError> {
    let may_ask =
        plugin.interactive_mode != Some(ExecInteractiveMode::Never) && std::io::stdin().is_terminal();
    let info = json!({
        "kind": "ExecCredential",
        "apiVersion": version,
        "spec": {"interactive": may_ask, "cluster": plugin.cluster},
    });
    let variables =
        plugin.env.iter().flatten().filter_map(|variable| variable.get("name").zip(variable.get("value")));
    let stderr = if std::io::stderr().is_terminal() { Stdio::inherit() } else { Stdio::piped() };
    let mut process = Command::new(command);
    process
        .args(plugin.args.iter().flatten())
        .envs(variables)
        .env("KUBERNETES_EXEC_INFO", info.to_string())
        .stdin(if may_ask { Stdio::inherit() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true);
    let child = process.spawn().map_err(|source| not_started(plugin, command, source))?;
    let failed = |source| CredentialError::NotStarted { command: command.to_owned(), source };
    child.wait_with_output().await.map_err(failed)
}

fn not_started(plugin: &ExecConfig, command: &str, source: std::io::Error) -> CredentialError {
    let command = command.to_owned();
    if source.kind() == ErrorKind::NotFound {
        let install_hint = plugin.install_hint.as_deref().map(str::trim).filter(|hint| !hint.is_empty());
        return CredentialError::NotInstalled { command, install_hint: install_hint.map(str::to_owned) };
    }
    CredentialError::NotStarted { command, source }
}

/// Plugins print JSON, some YAML, of which JSON is a part.
fn credential(command: &str, version: &str, stdout: &[u8]) -> Result<PluginCredential, CredentialError> {
    let answer = |expected: &str, found: &str| CredentialError::Answer {
        command: command.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    if stdout.trim_ascii().is_empty() {
        return Err(answer("an ExecCredential", "nothing"));
    }
    let found: ExecCredential =
        serde_saphyr::from_slice(stdout).map_err(|_| answer("an ExecCredential", "other output"))?;
    if found.kind != "ExecCredential" || found.api_version != version {
        let other = format!("kind `{}`, apiVersion `{}`", found.kind, found.api_version);
        return Err(answer(&format!("kind `ExecCredential`, apiVersion `{version}`"), &other));
    }
    let status = found.status.unwrap_or_default();
    let token = status.token.as_deref().is_some_and(|token| !token.trim().is_empty());
    match (&status.client_certificate_data, &status.client_key_data) {
        (Some(_), Some(_)) => Ok(status),
        (None, None) if token => Ok(status),
        (None, None) => Err(answer("a token or a certificate with its key in `status`", "neither")),
        _ => Err(answer("a certificate and its key in `status`", "one of them")),
    }
}

/// The end of a text, in one line.
fn end(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = line.chars().count().saturating_sub(MAX_STDERR);
    if cut == 0 { line } else { format!("… {}", line.chars().skip(cut).collect::<String>()) }
}
