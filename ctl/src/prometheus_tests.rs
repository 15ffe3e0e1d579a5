use super::*;
use canary_release::prometheus::TimedValue;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const TOKEN: &str = "token-that-is-secret";
const OK: &str = "HTTP/1.1 200 OK";

/// A server that keeps the values of queries, or answers every request with one text.
struct FakePrometheus {
    address: String,
    /// The heads of its requests.
    requests: Arc<Mutex<Vec<String>>>,
}

impl FakePrometheus {
    async fn knowing(values: &[(&str, &str)]) -> Self {
        let values: BTreeMap<String, String> =
            values.iter().map(|(query, value)| ((*query).to_owned(), (*value).to_owned())).collect();
        Self::serve(move |query| {
            let sample = |value: &String| json!({"metric": {}, "value": [1.5, value]});
            let result: Vec<_> = values.get(query).map(sample).into_iter().collect();
            let body =
                json!({"status": "success", "data": {"resultType": "vector", "result": result}}).to_string();
            format!("{OK}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        })
        .await
    }

    async fn answering(text: &'static str) -> Self {
        Self::serve(|_| text.to_owned()).await
    }

    async fn serve(respond: impl Fn(&str) -> String + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/prefix/", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (respond, kept) = (respond.clone(), Arc::clone(&kept));
                tokio::spawn(async move {
                    let mut read = Vec::new();
                    while !read.ends_with(b"\r\n\r\n") {
                        let mut byte = [0];
                        if stream.read_exact(&mut byte).await.is_err() {
                            return;
                        }
                        read.extend(byte);
                    }
                    let head = String::from_utf8(read).unwrap();
                    let target = head.split(' ').nth(1).unwrap();
                    let url = url::Url::parse(&format!("http://host{target}")).unwrap();
                    let query = url.query_pairs().find(|(name, _)| name == "query").unwrap().1.into_owned();
                    kept.lock().unwrap().push(head);
                    let text = respond(&query);
                    if text.is_empty() {
                        std::future::pending::<()>().await;
                    }
                    let _ = stream.write_all(text.as_bytes()).await;
                });
            }
        });
        Self { address, requests }
    }

    fn source(&self, bearer_token_from: Option<SecretSource>) -> HttpMetricSource {
        let server = PrometheusServer { address: self.address.parse().unwrap(), bearer_token_from };
        let limits = Limits { timeout: Duration::from_millis(500), ..LIMITS };
        HttpMetricSource { server, secrets: None, limits }
    }

    async fn ask(&self, queries: &[&str]) -> Vec<Result<f64, String>> {
        values(&self.source(None), queries).await
    }

    fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn values(source: &HttpMetricSource, queries: &[&str]) -> Vec<Result<f64, String>> {
    let queries: Vec<String> = queries.iter().map(|query| (*query).to_owned()).collect();
    let found = source.query(&queries).await.into_iter();
    found.map(|value| value.map(FiniteNumber::get).map_err(|error| error.to_string())).collect()
}

#[tokio::test]
async fn each_query_has_its_value_in_the_order_of_the_queries() {
    let (canary, stable) =
        ("sum(rate(x{version=\"v2\"}[1m])) / 2 + 1", "sum(rate(x{version=\"v1\"}[1m])) & ü");
    let prometheus = FakePrometheus::knowing(&[(canary, "0.25"), (stable, "3")]).await;
    let found = prometheus.ask(&[canary, "nothing", stable]).await;
    assert_eq!(found, [Ok(0.25), Err("expected one value, found none".to_owned()), Ok(3.0)]);
    for head in prometheus.heads() {
        assert!(head.starts_with("GET /prefix/api/v1/query?query="), "{head}");
        assert!(!head.to_ascii_lowercase().contains("authorization"), "{head}");
    }
}

#[tokio::test]
async fn a_server_that_is_silent_wrong_or_away_is_no_value_and_says_so() {
    let redirect = "HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n";
    for (text, reason) in [
        ("", "no response in 0 s"),
        (
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",
            "expected a response of Prometheus, found status 401",
        ),
        (redirect, "expected a response of Prometheus, found status 302"),
        ("220 mail.example ESMTP\r\n\r\n", "http://127.0.0.1:"),
    ] {
        let prometheus = FakePrometheus::answering(text).await;
        let found = prometheus.ask(&["up"]).await;
        let [Err(error)] = &found[..] else { panic!("{text}: {found:?}") };
        assert!(error.contains(reason), "{text}: {error}");
        assert_eq!(prometheus.heads().len(), 1, "{text}: one request");
    }
    let away = FakePrometheus { address: "http://127.0.0.1:1/".to_owned(), requests: Arc::default() };
    let found = away.ask(&["up"]).await;
    assert!(found[0].as_ref().is_err_and(|error| error.contains("onnection refused")), "{found:?}");
}

#[tokio::test]
async fn a_token_is_read_when_it_is_needed_and_stands_in_no_error() {
    let prometheus = FakePrometheus::knowing(&[("up", "1")]).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let source = prometheus.source(Some(SecretSource::File(file.path().to_owned())));
    let expected = format!("expected a token in file {}, found another text", file.path().display());
    assert_eq!(values(&source, &["up"]).await, [Err(expected)], "an empty file");
    std::fs::write(file.path(), format!("{TOKEN}\n")).unwrap();
    assert_eq!(values(&source, &["up"]).await, [Ok(1.0)]);
    let heads = prometheus.heads();
    let [head] = &heads[..] else { panic!("{heads:?}") };
    assert!(head.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{head}");

    std::fs::write(file.path(), format!("{TOKEN} with a space")).unwrap();
    let error = values(&source, &["up"]).await.remove(0).unwrap_err();
    assert!(!error.contains(TOKEN), "{error}");
    let missing = prometheus.source(Some(SecretSource::Env("CANARY_CTL_NO_SUCH_VARIABLE".to_owned())));
    let error = values(&missing, &["up"]).await.remove(0).unwrap_err();
    assert_eq!(error, "expected a token in environment variable `CANARY_CTL_NO_SUCH_VARIABLE`, found none");
    assert_eq!(prometheus.heads().len(), 1, "nothing is asked without the token");
}

#[tokio::test]
async fn a_token_that_a_server_repeats_stands_in_no_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), TOKEN).unwrap();
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, TOKEN);
    let long = format!("{}{TOKEN}", "x".repeat(290));
    for (status, body) in [
        (
            "401 Unauthorized",
            json!({"status": "error", "errorType": "auth", "error": format!("Bearer {TOKEN}")}),
        ),
        ("400 Bad Request", json!({"status": "error", "error": encoded})),
        ("400 Bad Request", json!({"status": "error", "error": long})),
        ("200 OK", json!({"status": "success", "data": {"resultType": "scalar", "result": [1, TOKEN]}})),
        (
            "200 OK",
            json!({"status": "success", "warnings": [TOKEN], "data": {"resultType": "scalar", "result": [1, "1"]}}),
        ),
    ] {
        let body = body.to_string();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let prometheus = FakePrometheus::answering(text.leak()).await;
        let source = prometheus.source(Some(SecretSource::File(file.path().to_owned())));
        let error = values(&source, &["up"]).await.remove(0).unwrap_err();
        assert!(error.contains("(redacted)") && !error.contains(&TOKEN[..6]), "{body}: {error}");
        assert!(!error.contains(&encoded[..8]), "{body}: {error}");
    }
}

#[tokio::test]
async fn series_are_read_with_their_labels_times_and_values() {
    let body = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"envoy_server_live","pod":"a"},"values":[[1.5,"1"]]}]}}"#;
    let text = format!("{OK}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let prometheus = FakePrometheus::answering(text.leak()).await;
    let series = prometheus.source(None).series("envoy_server_live[2m]").await.unwrap();
    assert_eq!(series[0].labels["pod"], "a");
    assert_eq!(series[0].values, [TimedValue(1.5, "1".to_owned())]);
    let heads = prometheus.heads();
    assert!(heads[0].starts_with("GET /prefix/api/v1/query?query=envoy_server_live%5B2m%5D&"), "{heads:?}");
}
