//! A summary in GitHub's Markdown, for `GITHUB_STEP_SUMMARY` and pull requests.

pub(crate) mod escape;
mod summary;

pub use summary::render;
