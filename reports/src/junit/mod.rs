//! `JUnit` XML, in the shape that Surefire describes and that Jenkins, GitLab and their like read.

mod case;
mod suite;

pub use suite::{JunitError, render};
