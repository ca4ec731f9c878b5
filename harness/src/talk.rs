//! What is said to people, on standard error.

/// Says something to people. Where nobody can be told, the work goes on all the same.
macro_rules! talk {
    ($($said:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($said)*);
    }};
}
