//! One send over HTTP.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

use super::{BoxFuture, CallId, Exchange, Received, Secrets, SendFault, Transport, classify};
use crate::provider::Outgoing;

/// An answer that is larger is no answer.
const MAX_BODY: usize = 64 << 20;

/// Sends over HTTP, each request exactly once: no redirects, no retries.
pub struct Http {
    client: reqwest::Client,
    key: Option<String>,
    sign: Option<AwsKeys>,
    secrets: Secrets,
}

/// Keys for a signed request.
#[derive(Clone)]
pub(crate) struct AwsKeys {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) session: Option<String>,
    #[cfg_attr(not(feature = "bedrock"), expect(dead_code, reason = "only the signature reads it"))]
    pub(crate) region: String,
}

impl AwsKeys {
    fn all(&self) -> Vec<String> {
        [self.id.clone(), self.secret.clone()].into_iter().chain(self.session.clone()).collect()
    }
}

/// There is no way to send.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The client can't be made.
    #[error("OJ7020: the HTTP client can't be made: {0}")]
    Client(#[from] reqwest::Error),
    /// The key is not there.
    #[error(
        "OJ7021: provider `{provider}`: the environment variable {variable} is not set; it must hold the provider's key"
    )]
    Key {
        /// The provider.
        provider: String,
        /// The variable.
        variable: String,
    },
    /// Requests to this provider are signed, and this build can't.
    #[error("OJ7022: this build can't sign requests: build with the feature `bedrock`")]
    Signature,
}

impl Http {
    /// A client with the provider's key, which goes into headers where `{key}` stands.
    ///
    /// # Errors
    /// When the client can't be made.
    pub fn new(key: Option<String>) -> Result<Self, HttpError> {
        Self::build(key, false, true)
    }

    /// The same, and connections are kept for the next call. At hundreds of calls a second a connection for each runs
    /// out of ports; in return, one that the server closes at that moment shows as an unknown outcome.
    ///
    /// # Errors
    /// When the client can't be made.
    pub fn keeping_connections(key: Option<String>) -> Result<Self, HttpError> {
        Self::build(key, true, true)
    }

    fn build(key: Option<String>, keep: bool, secure: bool) -> Result<Self, HttpError> {
        // Another part of the process may have chosen already; then that choice stands.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder();
        if !secure {
            // Reading the system's certificates takes longer than everything else here.
            builder = builder.tls_certs_only([]);
        }
        let client = builder
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            // A kept connection that the server closes just now would blur "never sent": one connection for each call.
            .pool_max_idle_per_host(if keep { usize::MAX } else { 0 })
            .connect_timeout(Duration::from_secs(10))
            .user_agent(concat!("onejob/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let secrets = Secrets::new(key.clone());
        Ok(Self { client, key, sign: None, secrets })
    }

    /// A client for `provider`, with its key from the environment.
    ///
    /// # Errors
    /// When the key is not there or this build can't sign.
    pub fn for_provider(provider: &crate::provider::Provider, signed: bool) -> Result<Self, HttpError> {
        let variable = |name: &str| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.is_empty())
                .ok_or_else(|| HttpError::Key { provider: provider.name.clone(), variable: name.to_owned() })
        };
        let key = provider.key_env.as_deref().map(variable).transpose()?;
        let secure = !provider.base_url.starts_with("http://");
        let mut http = Self::build(key, provider.keep_connections, secure)?;
        if signed {
            if cfg!(not(feature = "bedrock")) {
                return Err(HttpError::Signature);
            }
            http.sign = Some(AwsKeys {
                id: variable("AWS_ACCESS_KEY_ID")?,
                secret: variable("AWS_SECRET_ACCESS_KEY")?,
                session: std::env::var("AWS_SESSION_TOKEN").ok(),
                region: provider.settings.get("region").cloned().unwrap_or_default(),
            });
            http.secrets.extend(Secrets::new(http.sign.iter().flat_map(AwsKeys::all)));
        }
        Ok(http)
    }

    /// Everything that must not be written anywhere.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn headers(&self, request: &Outgoing, body: &[u8]) -> Result<HeaderMap, String> {
        let mut headers: Vec<(String, String)> = request
            .headers
            .iter()
            .map(|(name, value)| {
                (name.clone(), value.replace("{key}", self.key.as_deref().unwrap_or_default()))
            })
            .collect();
        #[cfg(feature = "bedrock")]
        if let Some(keys) = &self.sign {
            headers.extend(super::sigv4::sign(keys, &request.url, &headers, body)?);
        }
        #[cfg(not(feature = "bedrock"))]
        let _ = body;
        let mut map = HeaderMap::new();
        for (name, value) in headers.drain(..) {
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            // The value may be the key: it must not be in the message.
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| format!("the value of {name} is no header value"))?;
            value.set_sensitive(super::is_secret_header(name.as_str()));
            map.insert(name, value);
        }
        Ok(map)
    }

    /// Providers repeat a wrong key in their errors; it must not get into a report from there.
    fn without_secrets(&self, mut received: Received) -> Received {
        let secrets = &self.secrets;
        for (_, value) in &mut received.headers {
            *value = secrets.redact(value);
        }
        if secrets.occurs_in(&received.body) {
            received.body = secrets.redact_bytes(&received.body);
        }
        received
    }

    async fn carry(&self, request: &Outgoing, deadline: Duration) -> Exchange {
        let started = Instant::now();
        let body = request.body.to_string().into_bytes();
        let headers = match self.headers(request, &body) {
            Ok(headers) => headers,
            Err(problem) => return Exchange::Broken(problem),
        };
        let until = tokio::time::Instant::now() + deadline;
        let sent = self.client.post(&request.url).headers(headers).body(body).send();
        let response = match tokio::time::timeout_at(until, sent).await {
            Err(_) => return Exchange::Unknown(format!("no answer within {} ms", deadline.as_millis())),
            Ok(Err(error)) => return failed(&error),
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        let headers = response.headers().iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let headers = headers.collect();
        let mut bytes = Vec::new();
        let mut cut = None;
        let mut stream = response.bytes_stream();
        loop {
            match tokio::time::timeout_at(until, stream.next()).await {
                Err(_) => {
                    cut = Some(format!("the answer was not complete within {} ms", deadline.as_millis()));
                    break;
                }
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    cut = Some(chain(&error));
                    break;
                }
                Ok(Some(Ok(piece))) if bytes.len() + piece.len() > MAX_BODY => {
                    cut = Some("the answer is larger than 64 MiB".to_owned());
                    break;
                }
                Ok(Some(Ok(piece))) => bytes.extend_from_slice(&piece),
            }
        }
        let elapsed = started.elapsed();
        Exchange::Answered(self.without_secrets(Received { status, headers, body: bytes, cut, elapsed }))
    }
}

impl Transport for Http {
    fn send<'a>(
        &'a self,
        _id: &'a CallId,
        request: &'a Outgoing,
        deadline: Duration,
    ) -> BoxFuture<'a, Exchange> {
        Box::pin(self.carry(request, deadline))
    }
}

fn failed(error: &reqwest::Error) -> Exchange {
    let fault = SendFault {
        connect: error.is_connect(),
        builder: error.is_builder(),
        timeout: error.is_timeout(),
        request: error.is_request(),
        body: error.is_body(),
    };
    if classify(fault) { Exchange::NeverSent(chain(error)) } else { Exchange::Unknown(chain(error)) }
}

/// An error with its causes, without the URL, which may carry a secret.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::from("the connection failed");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
