//! AWS's binary event stream.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use serde_json::{Map, Value};

use super::Frame;

/// Each message becomes `{"<event or exception type>": payload}`.
pub(super) fn frames(bytes: &[u8]) -> Vec<Frame> {
    let mut decoder = MessageFrameDecoder::new();
    let mut rest = bytes;
    let mut events = Vec::new();
    loop {
        match decoder.decode_frame(&mut rest) {
            Ok(DecodedFrame::Complete(message)) => events.push(event(&message)),
            Ok(DecodedFrame::Incomplete) => return events,
            Err(error) => {
                events.push(Frame::Damaged(format!("the event stream is damaged: {error}")));
                return events;
            }
        }
    }
}

fn event(message: &Message) -> Frame {
    let header = |wanted: &str| {
        let header = message.headers().iter().find(|header| header.name().as_str() == wanted)?;
        header.value().as_string().ok().map(|text| text.as_str().to_owned())
    };
    let Some(kind) =
        header(":event-type").or_else(|| header(":exception-type")).or_else(|| header(":error-code"))
    else {
        return Frame::Damaged("an event without a type".to_owned());
    };
    let payload = serde_json::from_slice(message.payload()).unwrap_or(Value::Object(Map::new()));
    Frame::Json(Value::Object([(kind, payload)].into_iter().collect()))
}
