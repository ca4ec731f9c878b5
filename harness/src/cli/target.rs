//! `onejob target`

use std::io::Write as _;

use onejob_reports::exit::ExitCode;

use super::args::TargetArgs;
use crate::{
    fail::{Code, Fault},
    target::REFERENCE,
};

pub(super) fn target(args: &TargetArgs) -> Result<ExitCode, Fault> {
    if args.print != "reference" {
        return Err(Fault::new(
            Code::TargetUnreadable,
            format!("there is no built-in target file `{}`", args.print),
            "only `reference` is built in: `onejob target --print reference`",
        ));
    }
    // A closed pipe has seen enough.
    let _ = write!(std::io::stdout(), "{REFERENCE}");
    Ok(ExitCode::Success)
}
