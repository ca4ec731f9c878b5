//! Everything that needs more than one module.
mod attempt;
mod attest;
mod canary;
mod cases;
mod cassette;
#[cfg(feature = "cli")]
mod cli;
mod dialects;
mod gate;
mod hostile;
mod load;
mod subset;
mod support;
mod throughput;
mod tour;
mod wire;
