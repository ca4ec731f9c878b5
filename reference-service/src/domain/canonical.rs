use std::fmt::Write as _;

use super::Json;

/// The canonical text of a value (RFC 8785): members sorted by UTF-16 code units, numbers as ECMAScript prints them,
/// only the escapes that are needed, no space. Strings are taken as they are, without Unicode normalisation.
#[must_use]
pub fn canonical(value: &Json) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => out.push_str(ryu_js::Buffer::new().format(*number)),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<&(String, Json)> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            // Writing to a String can't fail.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn of(text: &str) -> String {
        canonical(&parse(text.as_bytes()).expect("valid JSON"))
    }

    #[test]
    fn spellings_of_one_value_are_one_text() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("-0", "0"),
            ("100", "1e2"),
            (r#"{"a":1,"b":2}"#, " { \"b\" : 2 ,\n\"a\":1 } "),
            (r#""A""#, r#""\u0041""#),
            (r#""/""#, r#""\/""#),
            (r#"{"x":[{"q":1,"p":2}]}"#, r#"{"x":[{"p":2,"q":1}]}"#),
        ] {
            assert_eq!(of(a), of(b), "{a} and {b}");
        }
    }

    #[test]
    fn different_values_stay_different() {
        for (a, b) in [
            ("[1,2]", "[2,1]"),
            (r#"{"a":null}"#, "{}"),
            ("1", r#""1""#),
            (r#""\u00e9""#, r#""e\u0301""#),
            ("9007199254740992", "9007199254740990"),
            ("0", "false"),
            ("[]", "{}"),
        ] {
            assert_ne!(of(a), of(b), "{a} and {b}");
        }
    }

    #[test]
    fn the_form_is_that_of_rfc_8785() {
        assert_eq!(
            of("[333333333.3333333, 1E30, 4.50, 2e-3, 1e-27]"),
            "[333333333.3333333,1e+30,4.5,0.002,1e-27]"
        );
        assert_eq!(of(r#""\u20ac$\u000f\nA'B\"\\\"/""#), "\"€$\\u000f\\nA'B\\\"\\\\\\\"/\"");
        // U+1F600 sorts before U+FB33 by UTF-16 code units, though its scalar value is greater.
        assert_eq!(
            of("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\\r\":3,\"1\":4}"),
            "{\"\\r\":3,\"1\":4,\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_canonical_text_is_its_own_canonical_form(number: f64, text: String, flag: bool) {
            proptest::prop_assume!(number.is_finite());
            let value = Json::Object(vec![
                ("n".to_owned(), Json::Number(number)),
                (text.clone(), Json::Array(vec![Json::String(text.clone()), Json::Bool(flag), Json::Null])),
            ]);
            proptest::prop_assume!(text != "n");
            let once = canonical(&value);
            proptest::prop_assert_eq!(of(&once), once);
        }
    }
}
