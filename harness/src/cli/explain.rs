//! `onejob explain`

use onejob_reports::exit::ExitCode;

use super::args::ExplainArgs;
use crate::fail::{Code, Fault};

pub(super) fn explain(args: &ExplainArgs) -> Result<ExitCode, Fault> {
    use std::io::Write as _;

    let mut out = std::io::stdout().lock();
    let Some(text) = &args.code else {
        for code in Code::ALL {
            // A closed pipe ends the list, and is no error.
            if writeln!(out, "{}  exit {:<3}  {}", code.number(), code.exit() as u8, code.title()).is_err() {
                break;
            }
        }
        return Ok(ExitCode::Success);
    };
    let code: Code = text.parse().map_err(|error: crate::fail::UnknownCode| {
        Fault::new(Code::NoSuchCode, error.to_string(), "`onejob explain` lists all codes")
    })?;
    let _ = write!(out, "{}", code.page());
    Ok(ExitCode::Success)
}
