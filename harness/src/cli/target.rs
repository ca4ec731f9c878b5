//! `onejob target`

use std::io::Write as _;

use onejob_reports::exit::ExitCode;

use super::args::TargetArgs;
use crate::{
    fail::{Code, Fault},
    target::{REFERENCE, profile_page, profiles},
};

pub(super) fn target(args: &TargetArgs) -> Result<ExitCode, Fault> {
    if let Some(name) = &args.profile {
        let names = if name == "all" { profiles() } else { vec![name.as_str()] };
        let pages: Vec<String> = names.into_iter().map(profile_page).collect::<Result<_, _>>()?;
        let _ = write!(std::io::stdout(), "{}", pages.join("\n"));
        return Ok(ExitCode::Success);
    }
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
