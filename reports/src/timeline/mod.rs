//! What happened in a cell, in order: what to show of it, on which scale, and as text.

mod pick;
mod scale;
mod text;

pub use pick::{Picked, evidence, in_order, pick, pick_folded};
pub use scale::{Break, Scale};
pub use text::{TextLine, TextTimeline, plain_text};
