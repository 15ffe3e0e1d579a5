//! The bearer token of each request: that of the kubeconfig, of a file that is read again each minute, or of a credential plugin, which is
//! run again before its token expires.

use super::exec_plugin::{self, PluginCredential};
use crate::error::CredentialError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use canary_release::input_file;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, header::AUTHORIZATION};
use jiff::{SignedDuration, Timestamp};
use kube::config::{AuthInfo, AuthProviderConfig, ExecConfig};
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tower::BoxError;
use tower::filter::AsyncPredicate;

/// A file is read again after this time, and a plugin run this long before its token expires.
const RENEWAL: SignedDuration = SignedDuration::from_secs(60);

/// The token of a client's requests.
#[derive(Clone)]
pub(super) struct Bearer(Arc<Mutex<State>>);

struct State {
    source: Source,
    token: SecretString,
    renew_at: Option<Timestamp>,
}

enum Source {
    Kubeconfig,
    File(PathBuf),
    Plugin(Box<ExecConfig>),
}

impl Bearer {
    /// The token of a user, whose settings for it are taken out; what is left are certificates, and a password. `None` if it has none.
    ///
    /// # Errors
    ///
    /// If there is no usable token where the kubeconfig names one.
    pub(super) async fn take(user: &mut AuthInfo) -> Result<Option<Self>, CredentialError> {
        let (token, file, plugin) = (user.token.take(), user.token_file.take(), user.exec.take());
        let id_token = user.auth_provider.take().map(id_token).transpose()?;
        if user.username.is_some() && user.password.is_some() {
            return Ok(None);
        }
        let token = token.or(id_token.map(SecretString::from));
        let state = match (token, file, plugin) {
            (Some(token), ..) => State { source: Source::Kubeconfig, token, renew_at: None },
            (None, Some(file), _) => {
                let file = PathBuf::from(file);
                let token = read(&file)?;
                let renew_at = Some(Timestamp::now() + RENEWAL);
                State { source: Source::File(file), token, renew_at }
            }
            (None, None, Some(plugin)) => {
                let found = exec_plugin::run(&plugin).await?;
                if let Some((certificate, key)) = certificate(&found) {
                    user.client_certificate_data = Some(STANDARD.encode(certificate));
                    user.client_key_data = Some(STANDARD.encode(key).into());
                }
                let Some(token) = found.token else { return Ok(None) };
                let renew_at = found.expiration_timestamp.map(|end| end - RENEWAL);
                State { source: Source::Plugin(Box::new(plugin)), token: token.into(), renew_at }
            }
            (None, None, None) => return Ok(None),
        };
        state.header()?;
        Ok(Some(Self(Arc::new(Mutex::new(state)))))
    }

    /// The token as it is now.
    pub(super) async fn token(&self) -> SecretString {
        self.0.lock().await.token.clone()
    }
}

/// The token of a provider that `kubectl` has in itself: `oidc` alone, here as long as its token is valid.
fn id_token(mut provider: AuthProviderConfig) -> Result<String, CredentialError> {
    let token = provider.config.remove("id-token").filter(|_| provider.name == "oidc");
    token.ok_or_else(|| CredentialError::Plugin {
        setting: "auth-provider",
        expected: "`name: oidc` with an `id-token`",
        found: format!("`{}`", provider.name),
    })
}

fn certificate(found: &PluginCredential) -> Option<(&str, &str)> {
    found.client_certificate_data.as_deref().zip(found.client_key_data.as_deref())
}

fn read(file: &Path) -> Result<SecretString, CredentialError> {
    let text = input_file::read(file);
    text.map(SecretString::from)
        .map_err(|source| CredentialError::TokenFile { file: file.to_owned(), source })
}

impl State {
    async fn renew(&mut self) -> Result<(), CredentialError> {
        match &self.source {
            Source::Kubeconfig => self.renew_at = None,
            Source::File(file) => {
                // A file that is gone leaves the last token, which may be valid still (kubernetes/kubernetes#68164).
                if let Ok(token) = read(file) {
                    self.token = token;
                }
                self.renew_at = Some(Timestamp::now() + RENEWAL);
            }
            Source::Plugin(plugin) => {
                let found = exec_plugin::run(plugin).await?;
                self.token = found.token.unwrap_or_default().into();
                self.renew_at = found.expiration_timestamp.map(|end| end - RENEWAL);
            }
        }
        Ok(())
    }

    /// Line breaks around a token are not part of it.
    fn header(&self) -> Result<HeaderValue, CredentialError> {
        let token = self.token.expose_secret().trim();
        let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let value = HeaderValue::try_from(format!("Bearer {token}")).ok().filter(|_| is_one_word);
        let mut value = value.ok_or_else(|| CredentialError::Token { setting: self.source.setting() })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl Source {
    fn setting(&self) -> String {
        match self {
            Self::Kubeconfig => "`token`".to_owned(),
            Self::File(file) => format!("`tokenFile` {}", file.display()),
            Self::Plugin(plugin) => {
                format!("the credential plugin `{}`", plugin.command.as_deref().unwrap_or_default())
            }
        }
    }
}

impl<B: Send + 'static> AsyncPredicate<Request<B>> for Bearer {
    type Future = BoxFuture<'static, Result<Request<B>, BoxError>>;
    type Request = Request<B>;

    fn check(&mut self, mut request: Request<B>) -> Self::Future {
        let state = Arc::clone(&self.0);
        Box::pin(async move {
            let mut state = state.lock().await;
            if state.renew_at.is_some_and(|at| at <= Timestamp::now()) {
                state.renew().await?;
            }
            request.headers_mut().insert(AUTHORIZATION, state.header()?);
            Ok(request)
        })
    }
}
