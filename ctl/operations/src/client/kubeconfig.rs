//! Kubeconfigs as `kubectl` reads them: which files, which context in them, and the address of its API server.

use crate::error::KubeconfigError;
use canary_release::input_file;
use http::Uri;
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::{ExposeSecret as _, SecretString};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

/// A file that is wrong, and how.
pub(super) type InFile<E> = (Option<PathBuf>, E);

/// The places of kubeconfigs, beside those that a person names.
#[derive(Clone, Debug, Default)]
pub(super) struct KubeconfigEnvironment {
    /// `KUBECONFIG`: a list of files.
    pub(super) kubeconfig: Option<OsString>,
    /// The home directory of the user.
    pub(super) home: Option<PathBuf>,
}

/// The connection of a context to its API server.
pub(super) struct Context {
    pub(super) name: String,
    /// With all that is not secret.
    pub(super) config: Config,
    pub(super) user: AuthInfo,
    pub(super) proxy_url: Option<String>,
    /// The namespace of a call that names none.
    pub(super) namespace: Option<String>,
}

impl KubeconfigEnvironment {
    pub(super) fn of_process() -> Self {
        Self { kubeconfig: std::env::var_os("KUBECONFIG"), home: std::env::home_dir() }
    }

    /// The files of `KUBECONFIG`, merged: the first that says something decides, and those that are not there are left out. Without the
    /// variable `~/.kube/config`.
    ///
    /// # Errors
    ///
    /// If there is none of them, or one is no kubeconfig.
    pub(super) fn read(&self) -> Result<Kubeconfig, InFile<KubeconfigError>> {
        let listed = self.kubeconfig.as_ref().into_iter().flat_map(std::env::split_paths);
        let mut files: Vec<PathBuf> = listed.filter(|file| !file.as_os_str().is_empty()).collect();
        if files.is_empty() {
            let home = self.home.as_ref().ok_or((None, KubeconfigError::NoHome))?;
            files.push(home.join(".kube/config"));
        }
        let mut merged = None;
        let mut missing = None;
        for file in files {
            match read(&file) {
                Err(KubeconfigError::Read(error)) if error.kind() == ErrorKind::NotFound => {
                    missing.get_or_insert((Some(file), KubeconfigError::Read(error)));
                }
                Err(error) => return Err((Some(file), error)),
                Ok(found) => {
                    let all = merged.unwrap_or_else(Kubeconfig::default).merge(found);
                    merged = Some(all.map_err(|error| (Some(file), error.into()))?);
                }
            }
        }
        merged.ok_or_else(|| missing.unwrap_or((None, KubeconfigError::NoHome)))
    }
}

/// One file; the paths in it are those seen from its folder.
///
/// # Errors
///
/// If it cannot be read, or is no kubeconfig.
pub(super) fn read(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    let mut file = Kubeconfig::from_yaml(&text(&input_file::read_bytes(path)?)?)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    file.current_context.take_if(|name| name.is_empty());
    for cluster in file.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        resolve(&mut cluster.certificate_authority, folder);
        unwrap_lines(&mut cluster.certificate_authority_data);
        cluster.tls_server_name.take_if(|name| name.is_empty());
    }
    for user in file.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        for path in [&mut user.client_certificate, &mut user.client_key, &mut user.token_file] {
            resolve(path, folder);
        }
        unwrap_lines(&mut user.client_certificate_data);
        let mut key = user.client_key_data.take().map(|key| key.expose_secret().to_owned());
        unwrap_lines(&mut key);
        user.client_key_data = key.map(SecretString::from);
        user.username.take_if(|name| name.is_empty());
        user.token.take_if(|token| token.expose_secret().trim().is_empty());
        // A program without a folder is looked up on the PATH.
        if let Some(exec) = &mut user.exec
            && exec.command.as_ref().is_some_and(|command| command.contains(std::path::MAIN_SEPARATOR))
        {
            resolve(&mut exec.command, folder);
        }
    }
    Ok(file)
}

/// UTF-8, or UTF-16 as PowerShell redirects it, each with its mark.
fn text(bytes: &[u8]) -> io::Result<String> {
    let decoded = match bytes {
        [0xFF, 0xFE, rest @ ..] => from_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => from_utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok().map(str::to_owned),
        all => std::str::from_utf8(all).ok().map(str::to_owned),
    };
    decoded
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "expected UTF-8 or UTF-16, found other bytes"))
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|_| rest.is_empty())
}

/// A path as seen from the folder of its file; an empty one is none.
fn resolve(path: &mut Option<String>, folder: &Path) {
    *path = path.take().filter(|path| !path.is_empty()).map(|path| folder.join(path).display().to_string());
}

/// Base64 without the line breaks of a YAML block, which `kubectl` ignores; empty data is none.
fn unwrap_lines(data: &mut Option<String>) {
    let joined = data.take().map(|data| data.split_ascii_whitespace().collect::<String>());
    *data = joined.filter(|data| !data.is_empty());
}

/// The connection of a context, without one that of the current context.
///
/// # Errors
///
/// If there is no such context, or what it names is not there or not valid.
pub(super) fn context(file: &Kubeconfig, name: Option<&str>) -> Result<Context, KubeconfigError> {
    let name = name.or(file.current_context.as_deref());
    let named = file.contexts.iter().find(|context| Some(context.name.as_str()) == name);
    let context = named.and_then(|named| named.context.as_ref()).ok_or_else(|| {
        let known = file.contexts.iter().map(|context| context.name.clone()).collect();
        KubeconfigError::NoContext { name: name.map(str::to_owned), known }
    })?;
    let cluster = file.clusters.iter().find(|cluster| cluster.name == context.cluster);
    let cluster = cluster.and_then(|named| named.cluster.as_ref()).ok_or_else(|| {
        let context = name.unwrap_or_default().to_owned();
        KubeconfigError::NoCluster { context, cluster: named.map_or_else(String::new, cluster_of) }
    })?;
    // Like kubectl a context may name a user that is not there.
    let users = file.auth_infos.iter();
    let user = users
        .filter(|user| Some(&user.name) == context.user.as_ref())
        .find_map(|user| user.auth_info.clone());
    let mut user = user.unwrap_or_default();
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        exec.cluster = Some(ExecAuthCluster::try_from(cluster)?);
    }
    let mut config = Config::new(server(cluster, &user)?);
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    config.root_cert = authority(cluster)?;
    let context_name = name.unwrap_or_default().to_owned();
    let namespace = named.and_then(|named| named.context.as_ref()?.namespace.clone());
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    Ok(Context { name: context_name, config, user, proxy_url: cluster.proxy_url.clone(), namespace })
}

fn cluster_of(named: &kube::config::NamedContext) -> String {
    named.context.as_ref().map(|context| context.cluster.clone()).unwrap_or_default()
}

/// The address of an API server; without a scheme HTTPS where the kubeconfig says how to verify or to prove identity, like `kubectl`.
fn server(cluster: &Cluster, user: &AuthInfo) -> Result<Uri, KubeconfigError> {
    let found = cluster.server.as_deref().unwrap_or_default().trim();
    let has_tls = cluster.insecure_skip_tls_verify == Some(true)
        || cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some();
    let scheme = if has_tls { "https" } else { "http" };
    let address = if found.contains("://") { found.to_owned() } else { format!("{scheme}://{found}") };
    let uri = address.parse::<Uri>().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && has_host_and_port(uri));
    uri.ok_or_else(|| KubeconfigError::Server { found: found.to_owned() })
}

/// Whether an address names a host, and no port that does not exist: `Uri` takes any number there.
pub(super) fn has_host_and_port(uri: &Uri) -> bool {
    let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else { return false };
    let port = authority.as_str().rsplit_once(host).map_or("", |(_, rest)| rest.trim_start_matches(':'));
    !host.is_empty() && (port.is_empty() || port.parse::<NonZeroU16>().is_ok())
}

/// The certificates by which the API server is verified; `None` for those of the system.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, KubeconfigError> {
    let Some(pem) = ExecAuthCluster::try_from(cluster)?.certificate_authority_data else { return Ok(None) };
    let wrong = |found: String| KubeconfigError::Authority { found };
    let certificates = CertificateDer::pem_slice_iter(&pem).map(|found| found.map(|der| der.to_vec()));
    let certificates: Vec<_> =
        certificates.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if certificates.is_empty() {
        return Err(wrong("none".to_owned()));
    }
    Ok(Some(certificates))
}
