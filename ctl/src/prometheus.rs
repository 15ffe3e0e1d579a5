//! Asks a Prometheus server for the metrics of a rollout. Its token is a secret: no error has it, also where a response repeats it, and it is
//! sent to no other server.

#[cfg(test)]
#[path = "prometheus_tests.rs"]
mod tests;

use crate::http::{HttpClient, HttpError, Limits, TlsConnector, connector};
use crate::report::with_causes;
use canary_operations::{MetricSource, ScrapedMetrics, SecretReader};
use canary_release::input_file;
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics, scraped_metrics};
use canary_release::prometheus::{QueryError, Series, parse_response, parse_series};
use canary_release::redaction::Redaction;
use canary_release::spec::{FiniteNumber, PrometheusServer, SecretSource};
use futures_util::future::{BoxFuture, join_all};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderValue, USER_AGENT};
use std::time::Duration;
use url::form_urlencoded;

/// A rollout waits so long for values, once in the interval of a metric. A response has one value.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), body_bytes: 256 * 1024 };

/// The API of instant queries.
const PATH: &str = "/api/v1/query";

const AGENT: &str = concat!("canary-ctl/", env!("CARGO_PKG_VERSION"));

/// Asks over HTTP/1.1, with TLS where the address says so.
pub(crate) struct HttpMetricSource {
    server: PrometheusServer,
    /// Of the release's namespace; `None` where no cluster is connected.
    secrets: Option<SecretReader>,
    limits: Limits,
}

impl HttpMetricSource {
    pub(crate) const fn new(server: PrometheusServer, secrets: Option<SecretReader>) -> Self {
        Self::with_limits(server, secrets, LIMITS)
    }

    pub(crate) const fn with_limits(
        server: PrometheusServer,
        secrets: Option<SecretReader>,
        limits: Limits,
    ) -> Self {
        Self { server, secrets, limits }
    }

    /// The series of a query for values over a time.
    pub(crate) async fn series(&self, query: &str) -> Result<Vec<Series>, QueryError> {
        self.client().await?.query(query, parse_series).await
    }

    async fn ask(&self, queries: &[String]) -> Vec<Result<FiniteNumber, QueryError>> {
        let client = match self.client().await {
            Ok(client) => client,
            Err(error) => return queries.iter().map(|_| Err(error.clone())).collect(),
        };
        let asked = queries.iter().map(|query| client.query(query, parse_response));
        join_all(asked).await
    }

    /// With the token as it stands there now: whoever renews it need not restart the driver.
    async fn client(&self) -> Result<Client<'_>, QueryError> {
        let token = match &self.server.bearer_token_from {
            Some(source) => Some((self.token(source).await?, source)),
            None => None,
        };
        let authorization = token.as_ref().map(|(token, source)| bearer(token, source)).transpose()?;
        let redaction = Redaction::of(token.iter().map(|(token, _)| token.trim()));
        let is_tls = self.server.address.join("").starts_with("https://");
        let connector =
            connector(is_tls, None).map_err(|error| QueryError::NoResponse(with_causes(&error)))?;
        let http = HttpClient::new(connector, self.limits);
        Ok(Client { server: &self.server, authorization, redaction, http })
    }

    async fn token(&self, source: &SecretSource) -> Result<String, QueryError> {
        let missing = || QueryError::NoResponse(format!("expected a token in {source}, found none"));
        match source {
            SecretSource::Inline => Err(missing()),
            SecretSource::Env(name) => std::env::var(name).map_err(|_| missing()),
            SecretSource::File(path) => input_file::read(path)
                .map_err(|error| QueryError::NoResponse(format!("cannot read {source}: {error}"))),
            SecretSource::Secret { name, key } => {
                let secrets = self.secrets.as_ref().ok_or_else(missing)?;
                let read = tokio::time::timeout(self.limits.timeout, secrets.read(name, key)).await;
                let read =
                    read.map_err(|_| QueryError::NoResponse(format!("{source}: no response in time")))?;
                let text = read.map_err(|error| QueryError::NoResponse(with_causes(&error)))?;
                text.ok_or_else(missing)
            }
        }
    }
}

impl MetricSource for HttpMetricSource {
    fn query<'a>(&'a self, queries: &'a [String]) -> BoxFuture<'a, Vec<Result<FiniteNumber, QueryError>>> {
        Box::pin(self.ask(queries))
    }
}

/// The header of a token. It is marked as a secret, so that nothing prints it.
fn bearer(token: &str, source: &SecretSource) -> Result<HeaderValue, QueryError> {
    let wrong = || QueryError::NoResponse(format!("expected a token in {source}, found another text"));
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong());
    }
    let mut header = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| wrong())?;
    header.set_sensitive(true);
    Ok(header)
}

struct Client<'s> {
    server: &'s PrometheusServer,
    authorization: Option<HeaderValue>,
    redaction: Redaction,
    http: HttpClient<TlsConnector>,
}

impl Client<'_> {
    /// The result of a query, as `parse` reads it, or the error without the token.
    async fn query<T>(
        &self,
        query: &str,
        parse: fn(u16, &[u8]) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        self.exchange(query, parse).await.map_err(|error| error.redacted(&self.redaction))
    }

    /// A redirect is not followed: the token is for this server alone.
    async fn exchange<T>(
        &self,
        query: &str,
        parse: fn(u16, &[u8]) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let unreachable =
            |reason: String| QueryError::NoResponse(format!("{}: {reason}", self.server.address));
        let request = self.request(query).map_err(|error| unreachable(with_causes(&error)))?;
        let response = self.http.send(request).await.map_err(|error| match error {
            HttpError::TooLarge(_) => QueryError::Foreign(with_causes(&error)),
            HttpError::Exchange(_) | HttpError::Late(_) => unreachable(with_causes(&error)),
        })?;
        parse(response.status().as_u16(), response.body())
    }

    fn request(&self, query: &str) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("query", query).append_pair("timeout", "5s");
        let uri = format!("{}?{}", self.server.address.join(PATH), parameters.finish());
        let mut request = Request::get(uri).header(ACCEPT, "application/json").header(USER_AGENT, AGENT);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.body(Full::default())
    }
}

/// A gateway with 1,600 releases has a series for each, and a value for each scrape.
const SCRAPE_LIMITS: Limits = Limits { timeout: Duration::from_secs(3), body_bytes: 16 * 1024 * 1024 };

/// Asks as the source of a rollout's metrics does.
pub(crate) struct HttpScrapedMetrics {
    source: HttpMetricSource,
}

impl HttpScrapedMetrics {
    pub(crate) const fn new(server: PrometheusServer) -> Self {
        Self { source: HttpMetricSource::with_limits(server, None, SCRAPE_LIMITS) }
    }
}

impl ScrapedMetrics for HttpScrapedMetrics {
    fn read<'a>(
        &'a self,
        pod: &'a PodName,
        filter: &'a MetricFilter,
    ) -> BoxFuture<'a, Result<ProxyMetrics, String>> {
        Box::pin(async move {
            let series = self.source.series(&filter.scraped_query(pod)).await;
            let series = series.map_err(|error| error.to_string())?;
            scraped_metrics(&series).map_err(|error| error.to_string())
        })
    }
}
