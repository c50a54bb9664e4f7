//! What is known about a key besides its value.

use super::{OutOfRange, Rule, Setting};

/// A key as help and documentation show it.
///
/// Its methods have the names of the options in a declaration: `value`, `range`, `alias`, `local`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    name: String,
    heading: &'static str,
    help: String,
    default: Option<String>,
    value_name: Option<&'static str>,
    alias: Option<&'static str>,
    is_local: bool,
}

impl Key {
    /// The key of a field, with its help text and what is used when the key is not given.
    pub fn new(field: &str, heading: &'static str, help: &str, default: Option<String>) -> Self {
        Self {
            name: field.replace('_', "-"),
            heading,
            help: help.trim().to_owned(),
            default,
            value_name: None,
            alias: None,
            is_local: false,
        }
    }

    /// The name that stands for the value in help texts.
    pub fn value(self, name: &'static str) -> Self {
        Self { value_name: Some(name), ..self }
    }

    /// Values outside the range are refused by [`KeyCheck::range`].
    pub fn range<R>(self, _: R) -> Self {
        self
    }

    /// Another name for the key.
    pub fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// The key describes the machine or how a run is carried out, and does not change a result. A
    /// model does not remember it, and a resumed run may change it.
    pub fn local(self) -> Self {
        Self { is_local: true, ..self }
    }

    /// The name in files; the flag has the same name after two dashes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The heading in help texts.
    pub fn heading(&self) -> &'static str {
        self.heading
    }

    /// What the key does, and its default.
    pub fn help(&self) -> String {
        match &self.default {
            Some(default) => format!("{} [default: {default}]", self.help),
            None => self.help.clone(),
        }
    }

    /// The name that stands for the value in help texts.
    pub fn value_name(&self) -> Option<&'static str> {
        self.value_name
    }

    /// Another name for the key.
    pub fn other_name(&self) -> Option<&'static str> {
        self.alias
    }

    /// Whether a model does not remember the key.
    pub fn is_local(&self) -> bool {
        self.is_local
    }
}

/// Checks the value of a key against its range. Like [`Key`], it has a method for each option.
#[derive(Debug)]
pub struct KeyCheck<'a, T> {
    field: &'static str,
    value: Option<&'a T>,
    result: Result<(), OutOfRange>,
}

impl<'a, T: Setting> KeyCheck<'a, T> {
    /// Starts to check the value of a field; a key that is not given passes.
    pub fn new(field: &'static str, value: Option<&'a T>) -> Self {
        Self { field, value, result: Ok(()) }
    }

    /// Nothing to check.
    pub fn value(self, _: &str) -> Self {
        self
    }

    /// Nothing to check.
    pub fn alias(self, _: &str) -> Self {
        self
    }

    /// Nothing to check.
    pub fn local(self) -> Self {
        self
    }

    /// Refuses a value that `rule` does not admit.
    pub fn range(self, rule: impl Rule<T>) -> Self {
        let result = match self.value {
            Some(value) if !rule.admits(value) => Err(OutOfRange {
                key: self.field.replace('_', "-"),
                value: value.text(),
                expected: rule.expected(),
            }),
            _ => self.result,
        };
        Self { result, ..self }
    }

    /// The result of all checks.
    pub fn finish(self) -> Result<(), OutOfRange> {
        self.result
    }
}
