//! Every kind of page, from what the tests are made of, to look at.
//!
//!     cargo run -p onejob-reports --example pages -- FOLDER

use std::{error::Error, fs, path::PathBuf};

use onejob_reports::{
    Format,
    bench::{self, BenchReport},
    explore, render, sheet,
};

#[path = "../tests/it/bench_fixtures.rs"]
mod bench_fixtures;
#[path = "../tests/it/explore_fixtures.rs"]
mod explore_fixtures;
#[path = "../tests/it/fixtures.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod fixtures;
#[path = "../tests/it/sheet_fixtures.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod sheet_fixtures;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder")?);
    fs::create_dir_all(&folder)?;
    let runs = [
        ("each", fixtures::one_of_each()),
        ("green", fixtures::all_green()),
        ("interrupted", fixtures::interrupted()),
        ("long", fixtures::suite(500)),
    ];
    for (name, run) in runs {
        render(&run, Format::Html, &mut fs::File::create(folder.join(format!("run-{name}.html")))?)?;
    }
    let bench =
        BenchReport { comparison: Some(bench_fixtures::comparison()), ..bench_fixtures::bench_report() };
    let sheets = [
        ("prove", sheet_fixtures::kill_matrix()),
        ("bench", bench::sheet(&bench)),
        ("contract", sheet_fixtures::contract()),
        ("explore", explore::sheet(&explore_fixtures::exploration())),
        ("explore-calm", explore::sheet(&explore_fixtures::calm_exploration())),
    ];
    for (name, page) in sheets {
        sheet::html(&page, &mut fs::File::create(folder.join(format!("{name}.html")))?)?;
    }
    println!("{}", folder.display());
    Ok(())
}
