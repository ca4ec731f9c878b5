//! Streams: bytes into events, events into an answer.
mod assemble;
#[cfg(feature = "bedrock")]
mod aws;
mod frames;

pub use assemble::assemble;
pub use frames::{Frame, frames};
