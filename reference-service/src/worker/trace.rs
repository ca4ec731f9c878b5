use uuid::Uuid;

/// The `traceparent` (W3C Trace Context, version 00) for a call: the trace of the request that made the job when it
/// had one, and a span of its own.
pub(crate) fn traceparent(of_request: Option<&str>) -> String {
    let span = &Uuid::new_v4().simple().to_string()[..16];
    match of_request.and_then(trace_id) {
        Some((trace, flags)) => format!("00-{trace}-{span}-{flags}"),
        None => format!("00-{}-{span}-01", Uuid::new_v4().simple()),
    }
}

/// The trace id and flags of a valid header.
fn trace_id(header: &str) -> Option<(&str, &str)> {
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let mut parts = header.trim().split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let valid = hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && hex(trace, 32)
        && trace.bytes().any(|b| b != b'0')
        && hex(parent, 16)
        && parent.bytes().any(|b| b != b'0')
        && hex(flags, 2);
    valid.then_some((trace, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_goes_on_and_the_span_is_new() {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let passed_on = traceparent(Some(header));
        assert!(passed_on.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"), "{passed_on}");
        assert!(passed_on.ends_with("-00") && !passed_on.contains("00f067aa0ba902b7"), "{passed_on}");
        assert!(trace_id(&passed_on).is_some());
    }

    #[test]
    fn what_is_no_trace_is_replaced_by_a_new_one() {
        for header in [
            None,
            Some(""),
            Some("00-00000000000000000000000000000000-00f067aa0ba902b7-00"),
            Some("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-00"),
            Some("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"),
            Some("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-00"),
            Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more"),
        ] {
            let made = traceparent(header);
            assert!(trace_id(&made).is_some(), "{made}");
            assert!(!made.contains("4bf92f3577b34da6"), "{header:?}");
        }
    }
}
