//! A service that runs in this process, started anew for each cell.

use std::{fmt, io, sync::Arc};

use futures::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::{engine::Placeholders, target::TargetFile};

/// What a service in this process is given in place of a command line.
#[derive(Debug, Clone)]
pub struct Given {
    target: Arc<TargetFile>,
    placeholders: Placeholders,
}

impl Given {
    pub(crate) fn new(target: Arc<TargetFile>, placeholders: Placeholders) -> Self {
        Self { target, placeholders }
    }

    /// Where the double of the provider with this name listens: a URL without a slash at the end. Nothing where the
    /// target file has no such provider.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&str> {
        self.placeholders.get(&format!("provider.{name}.url"))
    }

    /// A knob of the target file's `[settings]`, as the scenario wants it.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.placeholders.get(&format!("settings.{name}"))
    }

    /// The token of an owner.
    #[must_use]
    pub fn token(&self, owner: &str) -> Option<&str> {
        self.target.owner.iter().find(|known| known.name == owner)?.token.as_deref()
    }
}

/// A running copy of the service. It ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    base: String,
    task: JoinHandle<()>,
}

impl Running {
    /// A copy that listens at `base`, and is carried on by a task.
    #[must_use]
    pub fn new(base: impl Into<String>, task: JoinHandle<()>) -> Self {
        Self { base: base.into(), task }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Start = dyn Fn(Given) -> BoxFuture<'static, io::Result<Running>> + Send + Sync;

/// How to start a service in this process.
#[derive(Clone)]
pub struct Hosted(Arc<Start>);

impl Hosted {
    /// Starts a copy whenever it is asked to.
    pub fn new<Started>(start: impl Fn(Given) -> Started + Send + Sync + 'static) -> Self
    where
        Started: Future<Output = io::Result<Running>> + Send + 'static,
    {
        Self(Arc::new(move |given| Box::pin(start(given))))
    }

    pub(crate) async fn start(&self, given: Given) -> io::Result<Running> {
        (self.0)(given).await
    }
}

impl fmt::Debug for Hosted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Hosted")
    }
}
