//! Faults on what lets a job move to another provider: attestations that are issued, expire, are forged, spoilt, taken
//! away or suspended, and the contract that is no longer the attested one.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    fault::{InForce, Terms, both, place},
    proof::{Proof, Signer},
    world::World,
};
use crate::{fail::Fault, history::Kind, scenario::Span};

/// How long an attestation holds if nobody says.
const VALID: Duration = Duration::from_hours(1);
/// The clocks of the service and ours are one, but not read at the same moment.
const AFTER_EXPIRY: Duration = Duration::from_millis(5);

/// Applies it. An attestation that is issued hits when it expires, everything else at once.
pub(super) async fn apply(world: &Arc<World>, round: u32, terms: &Terms<'_>) -> Result<(), Fault> {
    let Some(proof) = &world.proof else {
        return Err(terms
            .wrong("the target doesn't say how its service moves jobs", "give it a section `[failover]`"));
    };
    let told = |what: &str| both(world, round, terms.name, what);
    match (place(terms.name), terms.kind()) {
        ("attestation", "issue") => issue(world, round, terms, proof).await?,
        ("attestation", "spoil") => {
            proof.spoil()?;
            told("one character of the attestation was changed");
        }
        ("attestation", "withdraw") => {
            proof.withdraw()?;
            told("the attestation was taken away");
        }
        ("attestation", "suspend") => {
            proof.suspend()?;
            told("the permission was suspended");
        }
        ("contract", "change") => {
            let part: String = terms.must("part", "prompt")?;
            if !proof.change(&part)? {
                return Err(terms.wrong(
                    format!("a contract has no part `{part}`"),
                    format!("there are: {}", Proof::parts()),
                ));
            }
            told(&format!("one byte of the {part} was changed"));
        }
        (place, other) => {
            let known = match place {
                "contract" => "on a contract there is: change",
                _ => "on an attestation there are: issue, spoil, withdraw, suspend",
            };
            return Err(terms.wrong(format!("there is no fault `{other}`"), known));
        }
    }
    Ok(())
}

async fn issue(world: &Arc<World>, round: u32, terms: &Terms<'_>, proof: &Proof) -> Result<(), Fault> {
    let valid = terms.get::<Span>("valid", "3s")?.map_or(VALID, |valid| valid.0);
    let signer = match terms.with.get("signer").map_or("trusted", String::as_str) {
        "trusted" => Signer::Trusted,
        "stranger" => Signer::Stranger,
        other => {
            return Err(terms.wrong(format!("nobody signs as `{other}`"), "write `trusted` or `stranger`"));
        }
    };
    let expires = proof.issue(valid, signer)?;
    let name = terms.name.to_owned();
    let detail = format!("issued until {expires:.3} by a {signer:?} key");
    world.recorder.record(round, Kind::FaultApplied { fault: name.clone(), detail });
    let (recorder, fault) = (world.recorder.clone(), name.clone());
    let task = tokio::spawn(async move {
        let left = Duration::try_from(expires.duration_since(Timestamp::now())).unwrap_or_default();
        tokio::time::sleep(left + AFTER_EXPIRY).await;
        recorder.record(round, Kind::FaultHit { fault, detail: "the attestation expired".to_owned() });
    });
    world.standing.lock().await.0.insert(name, InForce::Armed(vec![task]));
    Ok(())
}
