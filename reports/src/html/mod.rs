//! One HTML file that needs nothing else: no network, no script to be read, no second file.

mod budget;
mod draw;
mod lanes;
mod matrix;
mod moments;
mod page;
mod view;

pub use page::{HtmlError, render};
