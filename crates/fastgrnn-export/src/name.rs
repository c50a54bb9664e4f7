//! Names that are valid in C, in file systems and in package managers.

use crate::ExportError;

/// The length of the longest valid name.
const LONGEST: usize = 40;

/// Names whose header would hide one of the system, or whose files collide with those of an export.
const HIDING: &[&str] = &[
    "alloca",
    "arduino",
    "assert",
    "complex",
    "core",
    "ctype",
    "errno",
    "features",
    "fenv",
    "fastgrnn_runtime",
    "inttypes",
    "iso646",
    "limits",
    "locale",
    "main",
    "malloc",
    "math",
    "memory",
    "selftest_main",
    "setjmp",
    "signal",
    "src",
    "std",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbool",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "strings",
    "test",
    "tgmath",
    "threads",
    "time",
    "uchar",
    "unistd",
    "wchar",
    "wctype",
];

/// Keywords of C, C++ and Rust.
const WORDS: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "auto",
    "await",
    "become",
    "bool",
    "box",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "default",
    "delete",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "float",
    "fn",
    "for",
    "gen",
    "goto",
    "if",
    "impl",
    "in",
    "inline",
    "int",
    "let",
    "long",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "operator",
    "override",
    "priv",
    "private",
    "proc_macro",
    "pub",
    "ref",
    "register",
    "restrict",
    "return",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeof",
    "union",
    "unsafe",
    "unsigned",
    "unsized",
    "use",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "yield",
];

/// Returns the name if it is valid: a C identifier in lower case that hides no other name.
pub(crate) fn checked(name: &str) -> Result<String, ExportError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts || !name.chars().all(plain) || name.len() > LONGEST {
        return Err(ExportError::Name { name: name.to_owned() });
    }
    if HIDING.contains(&name) || WORDS.contains(&name) {
        return Err(ExportError::NameTaken { name: name.to_owned() });
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn names_are_lower_case_identifiers_that_hide_no_header() {
        for good in ["model", "gesture_2", "m"] {
            assert_eq!(checked(good).unwrap(), good);
        }
        let long = "a".repeat(41);
        for bad in [
            "",
            "2fast",
            "my-model",
            "Gesture",
            "ä",
            "a b",
            "_m",
            "../up",
            "string",
            "main",
            "features",
            "selftest_main",
            "int",
            "fn",
            &long,
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
