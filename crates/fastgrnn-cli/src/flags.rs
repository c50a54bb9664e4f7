//! Keys in messages of the library, written as command-line flags.
//!
//! The library names settings by their keys, in backticks: `` `window` `` or `` `val-split = 0` ``. On the
//! command line these are `--window` and `--val-split 0`.

use fastgrnn::train::{RENAMED_KEYS, Recipe};

/// Flags that are not keys of a recipe but appear in messages.
const OTHER_FLAGS: [&str; 1] = ["keywords"];

/// The text with every key in backticks replaced by its flag. Other text in backticks stays.
pub fn with_flags(text: &str) -> String {
    let keys = Recipe::keys();
    let is_flag = |name: &str| keys.iter().any(|key| key.name() == name) || OTHER_FLAGS.contains(&name);
    let mut parts = text.split('`');
    let mut written = parts.next().unwrap_or_default().to_owned();
    // Text and quoted text alternate; an odd backtick at the end is kept.
    while let Some(quoted) = parts.next() {
        let Some(after) = parts.next() else {
            written.push('`');
            written.push_str(quoted);
            break;
        };
        let (key, value) = quoted.split_once(" = ").map_or((quoted, None), |(key, value)| (key, Some(value)));
        let (name, rest) = key.split_once(' ').unwrap_or((key, ""));
        match (is_flag(name), value) {
            (false, _) => written.push_str(&format!("`{quoted}`")),
            (true, None) => written.push_str(&format!("--{}", format!("{name} {rest}").trim())),
            (true, Some(value)) if rest.is_empty() => written.push_str(&flag_with_value(name, value)),
            (true, Some(value)) => written.push_str(&format!("--{name} {rest}={value}")),
        }
        written.push_str(after);
    }
    written
}

/// A switch takes its value after an equals sign.
fn flag_with_value(name: &str, value: &str) -> String {
    match value {
        "true" => format!("--{name}"),
        "false" => format!("--{name}=false"),
        value => format!("--{name} {value}"),
    }
}

/// Usual names of other programs for flags, without the dashes.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("learning-rate", "lr"),
    ("learning_rate", "lr"),
    ("batch-size", "batch"),
    ("batch_size", "batch"),
    ("hidden-size", "hidden"),
    ("hidden-units", "hidden"),
    ("units", "hidden"),
    ("data", "dataset"),
    ("input-data", "dataset"),
    ("model", "cell"),
    ("epoch", "epochs"),
    ("output", "out"),
];

/// What is probably meant by a flag that does not exist, among the flags of the command.
pub fn meant(flag: &str, known: impl Fn(&str) -> bool) -> Option<String> {
    let name = flag.trim_start_matches("--").split('=').next().unwrap_or_default();
    let (_, own) = OTHER_NAMES.iter().find(|(other, own)| *other == name && known(own))?;
    Some(format!("there is no flag --{name}; did you mean --{own}?"))
}

/// The new name of a flag that was renamed.
pub fn renamed(flag: &str) -> Option<String> {
    let name = flag.trim_start_matches("--").split('=').next().unwrap_or_default();
    let found = RENAMED_KEYS.iter().find(|(old, _)| *old == name);
    found.map(|(old, new)| format!("the flag --{old} is called --{new} now"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_flags_and_other_text_stays() {
        for (text, expected) in [
            ("no key here", "no key here"),
            ("use a smaller `window`", "use a smaller --window"),
            ("`val-split = 0` trains without", "--val-split 0 trains without"),
            ("set `quantize` or `val-group = false`", "set --quantize or --val-group=false"),
            ("`augment rotate`: too much", "--augment rotate: too much"),
            ("`augment audio-copies = 2` is for", "--augment audio-copies=2 is for"),
            ("`mask` has 3 entries", "`mask` has 3 entries"),
            ("one ` alone", "one ` alone"),
        ] {
            assert_eq!(with_flags(text), expected);
        }
    }

    #[test]
    fn a_renamed_flag_names_the_new_one() {
        assert_eq!(renamed("--sparsity-u").unwrap(), "the flag --sparsity-u is called --keep-u now");
        assert!(renamed("--hiden").is_none());
    }
}
