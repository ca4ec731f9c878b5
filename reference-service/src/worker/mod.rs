//! Carrying jobs out, and finding out what became of those that got lost.

mod attempt;
mod crew;
mod heart;
mod reconciler;
mod shop;
mod stop;
mod sweeper;
mod trace;

pub(crate) use crew::work;
pub(crate) use shop::Shop;
pub(crate) use stop::{Phase, Stop};
pub(crate) use trace::traceparent;
