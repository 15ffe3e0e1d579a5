//! Error responses of the API server, or of a proxy before it, without the credentials that they may repeat: their text is printed, and kept
//! in records.

use super::bearer::Bearer;
use canary_release::redaction::Redaction;
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body as HttpBody, Bytes};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use tower::BoxError;

/// The password of a kubeconfig, and the token of its requests, which may be renewed.
#[derive(Clone)]
pub(super) struct Credentials {
    password: Redaction,
    bearer: Option<Bearer>,
}

/// The body of a response: as it comes, or the text of an error.
pub(super) type Redacted<B> = Either<B, Full<Bytes>>;

impl Credentials {
    pub(super) fn new(password: Option<&SecretString>, bearer: Option<Bearer>) -> Self {
        Self { password: Redaction::of(password.into_iter().map(SecretString::expose_secret)), bearer }
    }

    async fn redaction(&self) -> Redaction {
        let mut redaction = self.password.clone();
        if let Some(bearer) = &self.bearer {
            redaction.add(bearer.token().await.expose_secret().trim());
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
        let text = with_code(self.redaction().await.redact(&String::from_utf8_lossy(&bytes)), status);
        Ok(Response::from_parts(head, Either::Right(Full::from(text.into_bytes()))))
    }
}

/// The text of an error, with the HTTP status where it is JSON without a code: `kube` would take it for 0.
fn with_code(text: String, status: StatusCode) -> String {
    match serde_json::from_str::<Map<String, Value>>(&text) {
        Ok(mut found) if !found.contains_key("code") => {
            found.insert("code".to_owned(), status.as_u16().into());
            Value::Object(found).to_string()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::config::AuthInfo;

    async fn text(user: &AuthInfo, status: u16, body: &'static str) -> String {
        let bearer = Bearer::take(&mut user.clone()).await.unwrap();
        let credentials = Credentials::new(user.password.as_ref(), bearer);
        let response = Response::builder().status(status).body(Full::from(body)).unwrap();
        let body = credentials.redacted(response).await.unwrap().into_body();
        String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn credentials_that_an_error_repeats_are_taken_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "token-of-the-file\n").unwrap();
        let password = || Some("password-of-the-user".into());
        let by_token = AuthInfo {
            token: Some("token-of-the-user\n".into()),
            password: password(),
            ..AuthInfo::default()
        };
        let path = file.path().display().to_string();
        let by_file = AuthInfo { token_file: Some(path), password: password(), ..AuthInfo::default() };
        let token = "token-of-the-user password-of-the-user";
        assert_eq!(text(&by_token, 502, token).await, "(redacted) (redacted)");
        assert_eq!(text(&by_file, 502, "token-of-the-file").await, "(redacted)");
        assert_eq!(text(&by_token, 403, "no right").await, "no right");
        assert_eq!(text(&by_token, 200, token).await, token, "an object is read as it is");
    }
}
