//! A summary in GitHub's Markdown, for `GITHUB_STEP_SUMMARY` and pull requests.

mod escape;
mod summary;

pub use summary::render;
