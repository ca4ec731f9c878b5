mod attestations;
mod cluster;
mod double;
mod gate;
mod service;
mod wire;

pub(crate) use attestations::Papers;
pub(crate) use cluster::database;
pub(crate) use double::{Double, Received};
pub(crate) use gate::LockGate;
pub(crate) use service::{Answer, Service, eventually, input};
pub(crate) use wire::Wire;
