//! What a target's declared profile widens, in words for the report.

use super::TargetFile;

impl TargetFile {
    /// Each promise that the profile widens, as a sentence. Empty where it widens none.
    #[must_use]
    pub fn widens(&self) -> Vec<String> {
        match self.target.profile.as_str() {
            "ietf" => vec![
                "A known key with another payload may be refused with 422, and a missing key with 400."
                    .to_owned(),
                "A duplicate during flight may be refused with 409 instead of being told the job.".to_owned(),
            ],
            _ => Vec::new(),
        }
    }
}
