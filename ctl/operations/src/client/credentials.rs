//! Error responses of the API server, or of a proxy before it, without the credentials that they may repeat: their text is printed, and kept
//! in records.

use canary_release::input_file;
use canary_release::redaction::Redaction;
use http::Response;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body as HttpBody, Bytes};
use kube::config::AuthInfo;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use tower::BoxError;

/// The token and the password of a kubeconfig, and the file of a token, which is renewed. What a plugin of the kubeconfig has drawn is
/// not known here.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    fixed: Redaction,
    token_file: Option<PathBuf>,
}

/// The body of a response: as it comes, or the text of an error.
pub(super) type Redacted<B> = Either<B, Full<Bytes>>;

impl Credentials {
    pub(super) fn of(user: &AuthInfo) -> Self {
        let secrets = [&user.token, &user.password].into_iter().flatten();
        let fixed = Redaction::of(secrets.map(SecretString::expose_secret));
        Self { fixed, token_file: user.token_file.as_ref().map(PathBuf::from) }
    }

    fn redaction(&self) -> Redaction {
        let mut redaction = self.fixed.clone();
        if let Some(token) = self.token_file.as_ref().and_then(|file| input_file::read(file).ok()) {
            redaction.add(token.trim());
        }
        redaction
    }

    /// The same response; the text of an error without the credentials.
    pub(super) async fn redacted<B>(self, response: Response<B>) -> Result<Response<Redacted<B>>, BoxError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let status = response.status();
        if !status.is_client_error() && !status.is_server_error() {
            return Ok(response.map(Either::Left));
        }
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Into::into)?.to_bytes();
        let text = self.redaction().redact(&String::from_utf8_lossy(&bytes));
        Ok(Response::from_parts(head, Either::Right(Full::from(text.into_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    async fn text(user: &AuthInfo, status: u16, body: &'static str) -> String {
        let response = Response::builder().status(status).body(Full::from(body)).unwrap();
        let body = Credentials::of(user).redacted(response).await.unwrap().into_body();
        String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn credentials_that_an_error_repeats_are_taken_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "token-of-the-file\n").unwrap();
        let user = AuthInfo {
            token: Some("token-of-the-user".into()),
            password: Some("password-of-the-user".into()),
            token_file: Some(file.path().display().to_string()),
            ..AuthInfo::default()
        };
        let all = "token-of-the-user password-of-the-user token-of-the-file";
        assert_eq!(text(&user, 502, all).await, "(redacted) (redacted) (redacted)");
        assert_eq!(text(&user, 403, "no right").await, "no right");
        assert_eq!(text(&user, 200, all).await, all, "an object is read as it is");
    }
}
