use crate::text::plain;

/// Text that stays text: no markup, no HTML, no mention of a user, no cell border. One line. What stands between two
/// backticks becomes a code span, because that is what the writers of messages mean by them.
pub(crate) fn text(text: &str) -> String {
    let text = plain::one_line(text);
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest: &str = &text;
    while let Some((before, after)) = rest.split_once('`') {
        escape(before, &mut escaped);
        match after.split_once('`') {
            Some((inside, after)) if !inside.is_empty() => {
                escaped.push_str(&code(inside));
                rest = after;
            }
            _ => {
                escaped.push_str("\\`");
                rest = after;
            }
        }
    }
    escape(rest, &mut escaped);
    escaped
}

fn escape(text: &str, escaped: &mut String) {
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // GitHub would notify whoever bears the name.
            '@' => escaped.push_str("&#64;"),
            '\\' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
}

/// A code span, whatever backticks the text has. Usable in a table.
pub(crate) fn code(text: &str) -> String {
    let text = plain::one_line(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A fenced block, whatever fences the text has.
pub(crate) fn block(language: &str, text: &str) -> String {
    let text = plain::lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}
