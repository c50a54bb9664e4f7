//! Escaping user-supplied text (labels, names of features and data sets) in generated files.

/// Text that is safe in a comment of any language: it has no end of comment, no escape and one line.
pub(crate) fn comment(text: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || " .,:;+-_=()%".contains(c) { c } else { '_' };
    text.chars().map(safe).collect()
}

/// Text that is safe in a cell of a Markdown table.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{comment, markdown};

    #[test]
    fn escaped_text_cannot_end_a_comment_or_a_cell() {
        assert_eq!(comment("a */ b\\\n??/"), "a __ b_____");
        assert_eq!(markdown("a|b\n<c>"), "a\\|b &lt;c>");
    }
}
