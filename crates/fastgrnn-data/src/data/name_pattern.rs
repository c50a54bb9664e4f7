//! Labels and groups from the names of files, by a regular expression.

use regex_lite::Regex;

use super::{DataError, Request};

/// A regular expression that finds a label or a group in the path of a file.
pub(crate) struct NamePattern {
    key: &'static str,
    regex: Regex,
    /// The number of the capture that is meant.
    capture: usize,
}

impl NamePattern {
    /// The pattern that `key` gives. It captures the part that is meant with a group called `name`, or
    /// with its only one.
    pub fn new(key: &'static str, name: &str, text: &str) -> Result<Self, DataError> {
        let wrong = |problem: String| DataError::Setting { key: key.into(), problem };
        let regex =
            Regex::new(text).map_err(|error| wrong(format!("'{text}' is no regular expression: {error}")))?;
        let named = regex.capture_names().position(|found| found == Some(name));
        let capture = named.or_else(|| (regex.captures_len() == 2).then_some(1)).ok_or_else(|| {
            wrong(format!(
                "'{text}' does not say which part is meant; put one part into brackets, or name it as in (?P<{name}>…)"
            ))
        })?;
        Ok(Self { key, regex, capture })
    }

    /// What the pattern finds in `path`.
    pub fn find(&self, path: &str) -> Result<String, DataError> {
        let found = self.regex.captures(path).and_then(|captures| captures.get(self.capture));
        match found.map(|found| found.as_str()).filter(|found| !found.is_empty()) {
            Some(found) => Ok(found.into()),
            None => Err(DataError::Setting {
                key: self.key.into(),
                problem: format!("'{}' finds nothing in '{path}'", self.regex),
            }),
        }
    }
}

/// The patterns for labels and groups of a request.
pub(crate) struct Patterns {
    pub label: Option<NamePattern>,
    pub group: Option<NamePattern>,
}

impl Patterns {
    pub fn of(request: &Request) -> Result<Self, DataError> {
        let new = |key, name, text: &Option<String>| {
            text.as_ref().map(|text| NamePattern::new(key, name, text)).transpose()
        };
        Ok(Self {
            label: new("label-from", "label", &request.data.label_from)?,
            group: new("group-from", "group", &request.data.group_from)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(text: &str, path: &str) -> Result<String, String> {
        let pattern = NamePattern::new("group-from", "group", text).map_err(|error| error.to_string())?;
        pattern.find(path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pattern_finds_its_named_or_its_only_part() {
        assert_eq!(find(r"(S\d+)_", "walk/S01_3.csv").unwrap(), "S01");
        assert_eq!(find(r"(\w+)/(?P<group>S\d+)_", "walk/S01_3.csv").unwrap(), "S01");
        assert_eq!(find(r"(?:walk|run)/([^_]*)", "run/S2_3.csv").unwrap(), "S2");
    }

    #[test]
    fn patterns_that_find_nothing_are_errors_that_name_the_file() {
        assert!(find(r"(S\d+)_", "walk/3.csv").unwrap_err().contains("finds nothing in 'walk/3.csv'"));
        assert!(find(r"()", "walk/3.csv").unwrap_err().contains("finds nothing"));
        assert!(find(r"S\d+", "a").unwrap_err().contains("(?P<group>…)"));
        assert!(find(r"(a)(b)", "a").unwrap_err().contains("does not say"));
        assert!(find(r"(a", "a").unwrap_err().contains("is no regular expression"));
    }

    proptest! {
        #[test]
        fn any_pattern_is_used_or_refused(text in "\\PC{0,20}", path in "\\PC{0,20}") {
            let _ = find(&text, &path);
        }
    }
}
