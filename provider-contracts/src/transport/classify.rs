//! What a failed send means.

/// What the HTTP client says about a failed send.
#[expect(clippy::struct_excessive_bools, reason = "what the HTTP client answers to five questions")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendFault {
    /// No connection was made.
    pub connect: bool,
    /// The request could not even be built.
    pub builder: bool,
    /// Time ran out.
    pub timeout: bool,
    /// The request was being written.
    pub request: bool,
    /// The answer's body was being read.
    pub body: bool,
}

/// Whether the request certainly never left: only then may it be sent again.
///
/// A timeout while the body was written is `request` and `timeout` together: the server may have read everything. A
/// connection that was made makes everything after it uncertain.
#[must_use]
pub fn classify(fault: SendFault) -> bool {
    fault.builder || (fault.connect && !fault.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_without_a_connection_was_never_sent() {
        for bits in 0..32_u8 {
            let on = |bit: u8| bits & (1 << bit) != 0;
            let fault =
                SendFault { connect: on(0), builder: on(1), timeout: on(2), request: on(3), body: on(4) };
            assert_eq!(classify(fault), fault.builder || (fault.connect && !fault.body), "{fault:?}");
        }
    }

    #[test]
    fn a_timeout_while_the_body_is_written_is_unknown() {
        assert!(!classify(SendFault { request: true, timeout: true, ..SendFault::default() }));
    }
}
