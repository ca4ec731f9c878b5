//! Pages about what isn't a run of scenarios: a kill matrix, benchmarks, contracts, an exploration.
//!
//! A [`Sheet`] says what there is to show (tables, a grid, plots, differences) and nothing of how. It is rendered as one
//! self-contained HTML file in the look of the run's report, or as Markdown for a job summary.
//!
//! ```
//! use onejob_reports::sheet::{Sheet, Table, Tone, html};
//!
//! let sheet = Sheet::new("onejob bench cas", Tone::Good, "done", "8 strategies, 5 contender counts")
//!     .fact("database", "PostgreSQL 15.6")
//!     .section("Decisions a second", |section| {
//!         section.table(
//!             Table::new("by contenders", ["strategy", "2", "8"])
//!                 .row(["compare-and-swap".into(), "4 100".into(), "3 900".into()]),
//!         )
//!     });
//! let mut page = Vec::new();
//! html(&sheet, &mut page)?;
//! # Ok::<(), onejob_reports::html::HtmlError>(())
//! ```

mod axis;
mod compare;
mod format;
mod markdown;
mod model;
mod page;
mod plot;
mod plot_model;

pub(crate) use axis::figure;
pub use compare::Compare;
pub use format::{SheetFormat, UnknownSheetFormat, render};
pub use markdown::markdown;
pub use model::{Block, Entry, Fact, Grid, GridRow, Section, Sheet, Square, Table, Tone};
pub use page::html;
pub use plot_model::{Axis, Plot, Point, Series};
