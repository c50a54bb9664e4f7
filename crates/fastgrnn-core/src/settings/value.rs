//! The types that a setting may have.

use crate::cells::WeightBits;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// Text that is not a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidSetting {
    problem: String,
}

impl InvalidSetting {
    /// An error with this description, which quotes the text that is wrong.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into() }
    }
}

/// How a setting is written on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// One value.
    Value,
    /// One value that may start with a minus sign.
    Signed,
    /// One of these names.
    Choice(Vec<&'static str>),
    /// `true` or `false`; the flag alone means `true`.
    Switch,
    /// Values separated by commas; the flag may be repeated.
    List,
}

/// A type that a key may have.
pub trait Setting: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// How the value is written on the command line.
    fn form() -> Form {
        Form::Value
    }

    /// Reads the value of a flag.
    fn from_flag(text: &str) -> Result<Self, InvalidSetting>;

    /// The value as help texts and messages write it: text without quotes, numbers in their shortest
    /// form.
    fn text(&self) -> String {
        match serde_json::to_value(self).expect("a setting can be written as JSON") {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Adds the value of a repeated flag; only lists grow.
    fn extend(&mut self, more: Self) {
        *self = more;
    }
}

/// Makes types that implement [`FromStr`](std::str::FromStr) settings; the form may be given.
#[macro_export]
macro_rules! text_setting {
    ($($kind:ty $(= $form:ident)?),+ $(,)?) => {$(
        impl $crate::settings::Setting for $kind {
            $(fn form() -> $crate::settings::Form {
                $crate::settings::Form::$form
            })?

            fn from_flag(text: &str) -> Result<Self, $crate::settings::InvalidSetting> {
                text.parse().map_err(|error| $crate::settings::InvalidSetting::new(format!("{error}")))
            }
        }
    )+};
}

impl Setting for f64 {
    fn from_flag(text: &str) -> Result<Self, InvalidSetting> {
        text.parse().map_err(|_| InvalidSetting::new(format!("`{text}` is not a number")))
    }

    fn text(&self) -> String {
        // Plain digits would be hundreds of zeros.
        let is_extreme = *self != 0.0 && self.is_finite() && !(1e-7..1e15).contains(&self.abs());
        if is_extreme { format!("{self:e}") } else { self.to_string() }
    }
}

/// Makes unsigned integers settings.
macro_rules! whole_setting {
    ($($kind:ty),+) => {$(
        impl Setting for $kind {
            fn from_flag(text: &str) -> Result<Self, InvalidSetting> {
                text.parse().map_err(|_| InvalidSetting::new(format!("`{text}` is not a whole number from 0")))
            }
        }
    )+};
}

impl Setting for WeightBits {
    fn from_flag(text: &str) -> Result<Self, InvalidSetting> {
        let bits = text.parse().ok().and_then(|count: u8| Self::try_from(count).ok());
        bits.ok_or_else(|| InvalidSetting::new(format!("`{text}` is neither 8 nor 4")))
    }
}

whole_setting!(usize, u64);
text_setting!(String, PathBuf);

impl Setting for bool {
    fn form() -> Form {
        Form::Switch
    }

    fn from_flag(text: &str) -> Result<Self, InvalidSetting> {
        text.parse().map_err(|_| InvalidSetting::new(format!("`{text}` is neither `true` nor `false`")))
    }
}

impl Setting for Vec<String> {
    fn form() -> Form {
        Form::List
    }

    fn from_flag(text: &str) -> Result<Self, InvalidSetting> {
        Ok(text.split(',').map(str::to_owned).collect())
    }

    fn extend(&mut self, more: Self) {
        self.extend_from_slice(&more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_hundreds_of_zeros() {
        for (value, text) in [
            (0.003, "0.003"),
            (1.0, "1"),
            (0.0, "0"),
            (1e-300, "1e-300"),
            (-2.5e20, "-2.5e20"),
            (1e6, "1000000"),
        ] {
            assert_eq!(Setting::text(&value), text);
        }
    }
}
