//! `onejob bench`

mod database;
mod flags;
mod lifecycle;
mod output;
mod progress;

pub(super) use flags::BenchArgs;
use flags::BenchCommand;
use onejob_reports::exit::ExitCode;

use super::args::Global;
use crate::{
    bench::{Calls, ClaimForm, Strategy, UnknownStrategy, Work},
    fail::{Code, Fault},
};

pub(super) fn bench(global: &Global, args: &BenchArgs) -> Result<ExitCode, Fault> {
    match &args.command {
        BenchCommand::Cas(args) => {
            let strategies = named(&args.strategy, &Strategy::SOUND)?;
            let works: Vec<Work> = strategies.into_iter().map(Work::Decide).collect();
            database::measure(global, &args.measure, &works)
        }
        BenchCommand::Claim(args) => {
            let forms = named(&args.form, &ClaimForm::SOUND)?;
            let mut works = Vec::new();
            for percent in &args.duplicates {
                if Calls::sharing(1, *percent).is_none() {
                    return Err(Fault::new(
                        Code::BadFlag,
                        format!("no whole number of calls a key makes {percent} % of them duplicates"),
                        "take 0, 50, 75, 80, 90, 95, 98 or 99",
                    ));
                }
                works.extend(forms.iter().map(|form| Work::Claim(*form, *percent)));
            }
            database::measure(global, &args.measure, &works)
        }
        BenchCommand::Lifecycle(args) => lifecycle::lifecycle(global, args),
    }
}

fn named<T: std::str::FromStr<Err = UnknownStrategy> + Copy>(
    names: &[String],
    all: &[T],
) -> Result<Vec<T>, Fault> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let read = |name: &String| {
        name.parse().map_err(|error: UnknownStrategy| {
            Fault::new(Code::BadFlag, error.to_string(), "leave the flag out to measure all of them")
        })
    };
    names.iter().map(read).collect()
}
