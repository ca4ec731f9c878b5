//! The order of roles.

use crate::dialect::{Dialect, SystemPlace};
use crate::prompt::{ChatTemplate, Message, TemplateError};
use crate::verdict::{Finding, Verdict};

/// What the wire format and the model's own template say about the order of roles.
#[must_use]
pub fn lint_roles(
    dialect: &Dialect,
    template: Option<&ChatTemplate>,
    messages: &[Message],
) -> Option<Finding> {
    let late = messages
        .iter()
        .skip_while(|message| message.role == "system")
        .any(|message| message.role == "system");
    if late && matches!(dialect.messages.system, SystemPlace::Apart | SystemPlace::First) {
        let message = "a system message follows other messages, and this provider takes them only at the beginning: \
                       the second turn would be rejected or the message moved";
        return Some(Finding::at_rest(Verdict::block("system_position"), message));
    }
    let Err(TemplateError::Raised(said)) = template?.render(messages) else { return None };
    // If it is the place of the system message that the template minds, moving it to the front helps.
    let mut moved: Vec<Message> = messages.to_vec();
    moved.sort_by_key(|message| message.role != "system");
    let only_position = late && template?.render(&moved).is_ok();
    let code = if only_position { "system_position" } else { "template_rejects_roles" };
    let order: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
    let message = format!("the model's chat template refuses [{}]: {said}", order.join(", "));
    Some(Finding::at_rest(Verdict::block(code), message))
}
