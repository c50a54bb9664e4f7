//! The state that a network starts from, readable from a flag, from TOML and from a model file.

use crate::settings::InvalidSetting;
use crate::text_setting;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

/// The state before the first step: `zero`, `random` (standard normal, drawn for each sequence
/// from the seed), or given numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InitialState {
    /// All zero.
    #[default]
    Zero,
    /// Standard normal, drawn anew for each sequence.
    Random,
    /// These numbers, layer by layer; a single one is repeated.
    Given(Vec<f32>),
}

impl FromStr for InitialState {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        match s {
            "zero" => Ok(Self::Zero),
            "random" => Ok(Self::Random),
            s => s
                .split(',')
                .map(|v| v.trim().parse::<f32>().ok().filter(|v| v.is_finite()))
                .collect::<Option<Vec<f32>>>()
                .map(Self::Given)
                .ok_or_else(|| {
                    let problem = format!("`{s}` is neither `zero`, `random` nor numbers like 0.1,-0.2");
                    InvalidSetting::new(problem)
                }),
        }
    }
}

impl Serialize for InitialState {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Zero => s.serialize_str("zero"),
            Self::Random => s.serialize_str("random"),
            Self::Given(values) => s.collect_seq(values.iter().map(|&v| decimal(v))),
        }
    }
}

impl<'de> Deserialize<'de> for InitialState {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let what = "expected \"zero\", \"random\" or a list of numbers";
        match TextOr::<Vec<f32>>::deserialize(d).map_err(|_| D::Error::custom(what))? {
            TextOr::Plain(values) if values.iter().all(|v| v.is_finite()) => Ok(Self::Given(values)),
            TextOr::Plain(_) => Err(D::Error::custom("an initial state must be finite numbers")),
            TextOr::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

text_setting!(InitialState = Signed);

/// A value in a file that may also be written as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum TextOr<T> {
    /// The value in its own type.
    Plain(T),
    /// The value as text.
    Text(String),
}

/// The f64 that prints as short as `value` does: 0.1 stays 0.1 in files.
pub fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_read_names_and_finite_numbers() {
        assert_eq!("0.5,-1".parse::<InitialState>().unwrap(), InitialState::Given(vec![0.5, -1.0]));
        assert!("ones".parse::<InitialState>().is_err() && "nan".parse::<InitialState>().is_err());
        let read = |text: &str| serde_json::from_str::<InitialState>(text);
        assert_eq!(read("[0.5]").unwrap(), InitialState::Given(vec![0.5]));
        assert!(read("[1e300]").unwrap_err().to_string().contains("finite"));
    }
}
