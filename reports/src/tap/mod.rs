//! TAP version 14, for whatever reads the Test Anything Protocol.

mod stream;

pub use stream::render;
