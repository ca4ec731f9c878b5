//! Speaking to providers.

mod client;
mod wire;

pub(crate) use client::{Call, ProviderClient};
pub(crate) use wire::storable;
