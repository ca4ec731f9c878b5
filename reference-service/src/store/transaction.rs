use std::time::Duration;

use super::StoreError;

/// How often a transaction is run again, and how long to pause before.
pub(crate) struct Tries {
    left: u32,
    pause: Duration,
}

impl Tries {
    pub(crate) const fn new() -> Self {
        Self { left: 8, pause: Duration::from_millis(2) }
    }

    /// Waits before the next try, or gives the error back when there is none.
    pub(crate) async fn again(&mut self, error: StoreError) -> Result<(), StoreError> {
        if self.left == 0 || !error.is_transient() {
            return Err(error);
        }
        self.left -= 1;
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(250));
        Ok(())
    }
}

/// Runs a short transaction (or, [`Wait::Singly`](super::Wait), statements that need none), and runs it again when the
/// database says that nothing of it happened or the connection broke. Only for bodies that come to the same end when
/// their commit went through unnoticed the first time. `return` in a body ends the body, with a commit.
macro_rules! transaction {
    ($store:expr, $wait:expr, |$tx:ident| $body:block) => {{
        let mut tries = $crate::store::transaction::Tries::new();
        loop {
            let limited = tokio::time::timeout($store.limit, async {
                let mut session = $store.begin($wait).await?;
                let outcome: Result<_, $crate::store::StoreError> = async {
                    let $tx = &mut *session;
                    let value = $body;
                    Ok(value)
                }
                .await;
                match outcome {
                    Ok(value) => session.commit().await.map(|()| value),
                    Err(error) => {
                        // Where even that fails, the connection is broken, and the server does it.
                        let _ = session.roll_back().await;
                        Err(error)
                    }
                }
            });
            let outcome = limited.await.unwrap_or(Err($crate::store::StoreError::Silent));
            match outcome {
                Ok(value) => break Ok(value),
                Err(error) => {
                    $store.rules.reach.met($crate::reach::Occasion::DatabaseTrouble);
                    if let Err(error) = tries.again(error).await {
                        break Err(error);
                    }
                }
            }
        }
    }};
}

pub(crate) use transaction;
