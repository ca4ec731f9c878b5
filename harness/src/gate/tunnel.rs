//! TLS between this machine and the service: gates and proxies work on bytes, so they speak to a tunnel on the loopback
//! address, and the tunnel speaks TLS. What reaches it in one piece leaves in one record.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::Protocol;

/// What connecting and shaking hands may take.
const WITHIN: Duration = Duration::from_secs(5);

/// Whom to trust, and what to say that is spoken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Certificates (PEM) that count as authorities, beside nobody else; the system's own without it.
    pub ca: Option<PathBuf>,
    /// Offered to the service.
    pub protocol: Protocol,
}

/// Why TLS can't be spoken with a service.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of authorities can't be used.
    #[error("the certificates in {} can't be used: {wrong}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        wrong: String,
    },
    /// The host is no name that a certificate can have.
    #[error("`{0}` is no name that a certificate could have")]
    Name(String),
    /// The handshake failed.
    #[error("{0}")]
    Handshake(io::Error),
    /// The service doesn't speak what is needed.
    #[error("it speaks TLS, but no HTTP/2 over it; take `http = \"h1\"`, or `auto`")]
    NoHttp2,
}

/// Lives as long as somebody holds it; then its connections end.
#[derive(Debug)]
pub(super) struct Tunnel {
    address: SocketAddr,
    listening: JoinHandle<()>,
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Tunnel {
    /// Shakes hands once, so that a certificate that isn't trusted is told now, and listens.
    pub(super) async fn open(server: SocketAddr, host: &str, trust: &Trust) -> Result<Self, TlsError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name(host.to_owned()))?;
        let far = Far { server, name, connector: TlsConnector::from(Arc::new(config(trust)?)) };
        let stream = far.connect().await.map_err(TlsError::Handshake)?;
        let agreed = stream.get_ref().1.alpn_protocol();
        if trust.protocol == Protocol::H2 && agreed.is_some_and(|agreed| agreed != b"h2") {
            return Err(TlsError::NoHttp2);
        }
        drop(stream);
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(TlsError::Handshake)?;
        let address = listener.local_addr().map_err(TlsError::Handshake)?;
        let listening = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(carry(near, far.clone()));
            }
        });
        Ok(Self { address, listening })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

#[derive(Clone)]
struct Far {
    server: SocketAddr,
    name: ServerName<'static>,
    connector: TlsConnector,
}

impl Far {
    async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        let connecting = async {
            let stream = TcpStream::connect(self.server).await?;
            stream.set_nodelay(true)?;
            self.connector.connect(self.name.clone(), stream).await
        };
        timeout(WITHIN, connecting).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Carries bytes both ways until one side is done. What breaks on the far side breaks the near one too.
async fn carry(mut near: TcpStream, far: Far) {
    let carried = async {
        near.set_nodelay(true)?;
        let mut stream = far.connect().await?;
        copy_bidirectional(&mut near, &mut stream).await
    };
    match carried.await {
        // Many services close without the farewell that TLS has for it; to a client that is a close like any other.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => drop(near.set_zero_linger()),
        _ => {}
    }
}

fn config(trust: &Trust) -> Result<ClientConfig, TlsError> {
    super::super::prepare();
    let roots = if let Some(path) = &trust.ca {
        authorities(path)?
    } else {
        let mut roots = RootCertStore::empty();
        // What can't be read is not trusted, and the handshake says so.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    };
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = match trust.protocol {
        Protocol::H1 => vec![b"http/1.1".to_vec()],
        Protocol::H2 => vec![b"h2".to_vec()],
    };
    Ok(config)
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let unusable = |wrong: String| TlsError::Authorities { path: path.to_owned(), wrong };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("there is none in it (PEM is read)".to_owned()));
    }
    Ok(roots)
}
