//! One HTML file that needs nothing else: no network, no script to be read, no second file.

mod budget;
mod draw;
mod lanes;
mod matrix;
mod moments;
mod page;
mod shell;
mod view;
mod view_cell;

pub(crate) use draw::escaped;
pub use page::render;
pub use shell::HtmlError;
pub(crate) use shell::{Page, prose, render_page};
