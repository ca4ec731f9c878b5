//! The HTTP API.

mod attempts;
mod auth;
mod batch;
mod body;
mod callbacks;
mod guard;
mod jobs;
mod listener;
mod operations;
mod problem;
mod router;
mod state;
mod submit;
mod view;

pub(crate) use listener::listen;
pub(crate) use router::router;
pub(crate) use state::App;
