//! Where the service is.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use super::{
    Trust,
    tunnel::{TlsError, Tunnel},
};

/// A base URL and the address that it stands for.
#[derive(Debug, Clone)]
pub struct Origin {
    authority: String,
    prefix: String,
    address: SocketAddr,
    /// Speaks TLS, where the URL asks for it; the address is its own then.
    tunnel: Option<Arc<Tunnel>>,
}

/// The base URL can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// It is no `http` or `https` URL.
    #[error("`{base}` can't be a service's base URL: {wrong}; write it like `http://127.0.0.1:8080`")]
    Unusable {
        /// The URL.
        base: String,
        /// What is wrong.
        wrong: &'static str,
    },
    /// Its host has no address.
    #[error("the host of `{base}` can't be found: {source}")]
    Unresolved {
        /// The URL.
        base: String,
        /// What the system says.
        source: io::Error,
    },
    /// TLS can't be spoken with it.
    #[error("TLS can't be spoken with `{base}`: {source}")]
    Tls {
        /// The URL.
        base: String,
        /// Why.
        source: TlsError,
    },
}

/// What one of several addresses may take to accept before the next is tried.
const TRIED_FOR: Duration = Duration::from_millis(500);

/// The first address that takes connections, or else the first.
async fn reachable(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    if addresses.len() > 1 {
        for address in addresses {
            let connected = tokio::time::timeout(TRIED_FOR, tokio::net::TcpStream::connect(address)).await;
            if matches!(connected, Ok(Ok(_))) {
                return Some(*address);
            }
        }
    }
    addresses.first().copied()
}

impl Origin {
    /// Reads a base URL and looks its host up. Of several addresses (`localhost` has two) the first is used that takes
    /// connections.
    ///
    /// # Errors
    /// [`OriginError`] where it is no URL of a host that can be found.
    pub async fn resolve(base: &str) -> Result<Self, OriginError> {
        Self::trusting(base, &Trust::default()).await
    }

    /// The same, for a URL that may begin with `https`.
    ///
    /// # Errors
    /// [`OriginError::Tls`] where the service's certificate isn't trusted, too.
    pub async fn trusting(base: &str, trust: &Trust) -> Result<Self, OriginError> {
        let wrong = |wrong| OriginError::Unusable { base: base.to_owned(), wrong };
        let uri: http::Uri = base.trim().parse().map_err(|_| wrong("it is no URL"))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("it begins with neither `http://` nor `https://`")),
        };
        if uri.query().is_some() {
            return Err(wrong("it has a query"));
        }
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("it has a user; put credentials into the owner's headers"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let unresolved = |source| OriginError::Unresolved { base: base.to_owned(), source };
        let addresses: Vec<_> =
            tokio::net::lookup_host((host.as_str(), port)).await.map_err(unresolved)?.collect();
        let none = || unresolved(io::Error::new(io::ErrorKind::NotFound, "it has no address"));
        let address = reachable(&addresses).await.ok_or_else(none)?;
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let tunnel = if tls {
            let opened = Tunnel::open(address, &host, trust).await;
            Some(Arc::new(opened.map_err(|source| OriginError::Tls { base: base.to_owned(), source })?))
        } else {
            None
        };
        let address = tunnel.as_ref().map_or(address, |tunnel| tunnel.address());
        Ok(Self { authority: authority.to_string(), prefix, address, tunnel })
    }

    /// The address that speaks HTTP in the clear: the service's, or that of the tunnel to it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Host and port as the URL has them.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.tunnel.is_some() { "https" } else { "http" }
    }

    /// A path below the URL's own.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}{}", self.scheme(), self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_base_url_keeps_its_own_path_without_the_last_slash() {
        let origin = Origin::resolve("http://127.0.0.1:8080/api/").await.unwrap();
        assert_eq!(origin.path("/v1/jobs"), "/api/v1/jobs");
        assert_eq!(origin.to_string(), "http://127.0.0.1:8080/api");
        assert_eq!(origin.address(), "127.0.0.1:8080".parse().unwrap());
    }

    #[tokio::test]
    async fn the_port_is_80_unless_given_and_v6_hosts_have_brackets() {
        let origin = Origin::resolve("http://[::1]").await.unwrap();
        assert_eq!(origin.address(), "[::1]:80".parse().unwrap());
        assert_eq!(origin.authority(), "[::1]");
    }

    #[tokio::test]
    async fn what_is_no_http_url_is_refused_with_what_is_wrong() {
        for (base, wrong) in [
            ("ftp://127.0.0.1", "begins with"),
            ("127.0.0.1:80", "begins with"),
            ("http://a@127.0.0.1", "user"),
            ("http://127.0.0.1/?a=b", "query"),
            ("not a url", "no URL"),
        ] {
            let error = Origin::resolve(base).await.unwrap_err().to_string();
            assert!(error.contains(wrong), "{base}: {error}");
        }
    }
}
