use tokio::sync::watch;

/// How far the process is on its way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Not at all.
    Running,
    /// Nothing new is taken up.
    Draining,
    /// Whatever is under way is given up.
    Stopping,
}

/// Tells every part of the process how far it is.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    phase: watch::Receiver<Phase>,
}

impl Stop {
    pub(crate) fn new() -> (watch::Sender<Phase>, Self) {
        let (sender, phase) = watch::channel(Phase::Running);
        (sender, Self { phase })
    }

    pub(crate) fn is(&self, phase: Phase) -> bool {
        *self.phase.borrow() >= phase
    }

    /// Waits until the process is at least that far.
    pub(crate) async fn reached(&self, phase: Phase) {
        // An error means that the sender is gone, and with it the service.
        let _ = self.phase.clone().wait_for(|now| *now >= phase).await;
    }
}
