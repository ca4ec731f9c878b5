//! Whether a service answers: asked until it does, or until its time is up.

use std::time::Duration;

use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    fail::{Code, Fault},
    gate::{Client, Origin, Prepared, Trust},
    target::{Ready, Target},
};

/// What a service that we don't start may take to accept a connection, where its file says nothing about readiness.
const REACHED_WITHIN: Duration = Duration::from_secs(3);
/// Pauses between two looks: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Why a service isn't ready.
pub(super) enum NotReady {
    /// It can't become ready any more: its process is over.
    Ended,
    /// The time is up; what was seen last.
    TimedOut(String),
}

/// Asks for the ready path until it answers 2xx. `ended` is asked in between
/// whether there is nobody to wait for any more.
pub(super) async fn wait(
    (base, trust): (&str, &Trust),
    ready: &Ready,
    deadline: Instant,
    ended: impl FnMut() -> bool,
) -> Result<(), NotReady> {
    again_until(Wanted { base, trust, ready: Some(ready) }, deadline, ended).await
}

/// Tries to connect until somebody takes it.
pub(super) async fn listens(
    (base, trust): (&str, &Trust),
    deadline: Instant,
    ended: impl FnMut() -> bool,
) -> Result<(), NotReady> {
    again_until(Wanted { base, trust, ready: None }, deadline, ended).await
}

/// What a service is waited for: an answer, or a connection where nothing else is known.
struct Wanted<'w> {
    base: &'w str,
    trust: &'w Trust,
    ready: Option<&'w Ready>,
}

impl Wanted<'_> {
    async fn look(&self, deadline: Instant) -> Result<(), String> {
        if let Some(ready) = self.ready {
            return look((self.base, self.trust), ready, deadline).await;
        }
        let origin = Origin::trusting(self.base, self.trust).await.map_err(|error| error.to_string())?;
        match timeout_at(deadline, TcpStream::connect(origin.address())).await {
            Ok(connected) => connected.map(drop).map_err(|error| error.to_string()),
            Err(_) => Err("no answer".to_owned()),
        }
    }
}

async fn again_until(
    wanted: Wanted<'_>,
    deadline: Instant,
    mut ended: impl FnMut() -> bool,
) -> Result<(), NotReady> {
    let mut pause = PAUSES.0;
    loop {
        let last = match wanted.look(deadline).await {
            Ok(()) => return Ok(()),
            Err(seen) => seen,
        };
        if ended() {
            return Err(NotReady::Ended);
        }
        // Readiness of a foreign process can only be asked for; the pause keeps the asking cheap.
        if timeout_at(deadline, sleep(pause)).await.is_err() {
            return Err(NotReady::TimedOut(last));
        }
        pause = (pause * 2).min(PAUSES.1);
    }
}

async fn look((base, trust): (&str, &Trust), ready: &Ready, deadline: Instant) -> Result<(), String> {
    let origin = Origin::trusting(base, trust).await.map_err(|error| error.to_string())?;
    let get =
        Prepared { method: "GET".to_owned(), path: ready.get.clone(), headers: Vec::new(), body: Vec::new() };
    match Client::new(origin, trust.protocol).send(&get, deadline, || ()).await {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
        Ok(answer) => Err(format!("status {}", answer.status)),
        Err(loss) => Err(loss.to_string()),
    }
}

/// Whether every replica of a target that we don't start can be reached, and is ready where its file says how to tell.
pub async fn reached(target: &Target) -> Result<(), Fault> {
    let trust = target.trust();
    for base in &target.base {
        match &target.ready {
            Some(ready) => {
                let deadline = Instant::now() + ready.within.0;
                if let Err(NotReady::TimedOut(last)) = wait((base, &trust), ready, deadline, || false).await {
                    return Err(never(base, ready, &last));
                }
            }
            None => connects(base, &trust).await?,
        }
    }
    Ok(())
}

fn never(base: &str, ready: &Ready, last: &str) -> Fault {
    Fault::new(
        Code::TargetNeverReady,
        format!("the service at {base} did not get ready: GET {}: {last}", ready.get),
        "start the service, or correct `base` and `ready` in [target]",
    )
}

/// That somebody takes connections is all that can be asked of a service without touching it.
async fn connects(base: &str, trust: &Trust) -> Result<(), Fault> {
    let origin = Origin::trusting(base, trust).await?;
    let refused = |why: String| {
        Fault::new(
            Code::TargetRefused,
            format!("nothing takes connections at {base}: {why}"),
            "start the service, or correct `base` in [target]",
        )
    };
    match timeout_at(Instant::now() + REACHED_WITHIN, TcpStream::connect(origin.address())).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(refused(error.to_string())),
        Err(_) => Err(refused(format!("no answer within {} s", REACHED_WITHIN.as_secs()))),
    }
}
