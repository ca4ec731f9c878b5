//! The service on a real Postgres, with a provider that the test plays itself.

mod support;

mod attempts;
mod callbacks;
mod cancel;
mod claims;
mod defects;
mod dialects;
mod failover;
mod keys;
mod leases;
mod operations;
mod owners;
mod payloads;
mod probes;
mod race;
mod retention;
mod unknown;
