//! Headline numbers: what each is, where it comes from, how it is written.

use fastgrnn_core::format::{bytes, count, duration, fraction, number, number_sd};
use serde::{Deserialize, Serialize};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Observed in this run.
    #[default]
    Measured,
    /// Computed from measured numbers or from the shape of the network.
    Derived,
    /// What a model of a board says.
    Modelled,
}

impl Kind {
    /// The word printed beside the number.
    pub fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Derived => "derived",
            Self::Modelled => "modelled",
        }
    }
}

/// How a number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A plain number, four digits.
    #[default]
    Number,
    /// 0–1, shown in per cent.
    Fraction,
    /// A whole number with thousands apart.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds, shown as hours, minutes and seconds.
    Seconds,
}

/// One headline number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// Its value; the mean where there are several seeds. Nothing where it does not exist, such as the F1
    /// of a class that does not occur.
    pub value: Option<f64>,
    /// Standard deviation over the seeds.
    pub sd: Option<f64>,
    /// How it is written.
    pub unit: Unit,
    /// Where it comes from.
    pub kind: Kind,
}

impl Figure {
    /// A number without a deviation.
    pub fn new(label: &str, value: impl Into<Option<f64>>, unit: Unit, kind: Kind) -> Self {
        Self { label: label.into(), value: value.into(), sd: None, unit, kind }
    }

    /// The same with a deviation over seeds.
    pub fn with_sd(mut self, sd: Option<f64>) -> Self {
        self.sd = sd;
        self
    }

    /// The number as a person reads it, with its deviation; a dash where it does not exist.
    pub fn text(&self) -> String {
        let Some(value) = self.value else { return "–".into() };
        match (self.unit, self.sd) {
            (Unit::Number, None) if value == f64::INFINITY => "∞".into(),
            (Unit::Number, None) => number(value),
            (Unit::Number, Some(sd)) => number_sd(value, sd),
            (Unit::Fraction, sd) => fraction(value, sd),
            (Unit::Count, _) => count(value as u64),
            (Unit::Bytes, _) => bytes(value as u64),
            (Unit::Seconds, _) => duration(value),
        }
    }
}
