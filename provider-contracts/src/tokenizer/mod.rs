//! A provider's own vocabulary: how many tokens, and which.
mod encoder;
#[cfg(feature = "tokenizers")]
mod hugging_face;
#[cfg(feature = "tokenizers")]
mod tekken;
#[cfg(feature = "tokenizers")]
mod tiktoken;
#[cfg(feature = "tokenizers")]
mod vocabulary;

pub use encoder::{Encoder, TokenizerError, estimate, load};
