//! The input layer: a window over the last frames, its projection, and what becomes of its sums.

use fastgrnn_core::cells::{Cell, CellKind, MatrixForm, Nonlinearity};
use fastgrnn_core::settings::{Choice, InvalidSetting, Setting};
use fastgrnn_core::text_setting;
use fastgrnn_core::window::{MAX_FRAMES, Window};
use serde::{Deserialize, Deserializer, Serialize};
use std::str::FromStr;

/// Most units of an input layer.
const MAX_UNITS: usize = 1 << 12;

/// A layer without a state before the first recurrent one, which reads the last frames of the input.
///
/// On the command line `frames=3,stride=2,units=16,activation=relu`; in TOML
/// `{ frames = 3, stride = 2, units = 16, activation = "relu" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InputLayer {
    /// Frames that a step reads.
    pub frames: usize,
    /// Frames from one step to the next.
    pub stride: usize,
    /// Units of the projection.
    pub units: usize,
    /// What becomes of its sums.
    pub activation: Nonlinearity,
}

impl InputLayer {
    /// The window of the network.
    pub fn window(&self) -> Window {
        Window { frames: self.frames, stride: self.stride }
    }

    /// The first layer of a network whose frames have so many features.
    pub fn cell(&self, features: usize) -> Cell {
        let cell = Cell::new(CellKind::Rnn, features.saturating_mul(self.frames), self.units);
        Cell { update: self.activation, ..cell.with_forms(MatrixForm::Full, MatrixForm::Absent) }
    }
}

/// The table of a file. What it leaves out is taken from the rest.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Table {
    frames: Option<usize>,
    stride: Option<usize>,
    units: Option<usize>,
    activation: Option<Nonlinearity>,
}

impl TryFrom<Table> for InputLayer {
    type Error = InvalidSetting;

    fn try_from(table: Table) -> Result<Self, InvalidSetting> {
        let missing = |key: &str| InvalidSetting::new(format!("`{key}` is missing, as in {EXAMPLE}"));
        let layer = Self {
            frames: table.frames.ok_or_else(|| missing("frames"))?,
            stride: table.stride.unwrap_or(1),
            units: table.units.ok_or_else(|| missing("units"))?,
            activation: table.activation.unwrap_or(Nonlinearity::Relu),
        };
        let wrong = |key: &str, value: usize, least: usize, most: usize| {
            InvalidSetting::new(format!("`{key}={value}` is not between {least} and {most}"))
        };
        for (key, value, most) in [("frames", layer.frames, MAX_FRAMES), ("units", layer.units, MAX_UNITS)] {
            if !(1..=most).contains(&value) {
                return Err(wrong(key, value, 1, most));
            }
        }
        match layer.window().is_valid() {
            true => Ok(layer),
            false => Err(wrong("stride", layer.stride, 1, layer.frames)),
        }
    }
}

const EXAMPLE: &str = "frames=3,stride=2,units=16,activation=relu";

impl FromStr for InputLayer {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        let mut table = Table::default();
        for part in text.split(',') {
            let like = || InvalidSetting::new(format!("`{part}` is not a part of a value like {EXAMPLE}"));
            let (key, value) = part.split_once('=').ok_or_else(like)?;
            let (key, value) = (key.trim(), value.trim());
            let number = || {
                let wrong = format!("`{value}` in `{key}={value}` is not a whole number");
                value.parse().map(Some).map_err(|_| InvalidSetting::new(wrong))
            };
            match key {
                "frames" => table.frames = number()?,
                "stride" => table.stride = number()?,
                "units" => table.units = number()?,
                "activation" => table.activation = Some(Nonlinearity::from_flag(value)?),
                _ => {
                    let keys = "frames, stride, units, activation";
                    return Err(InvalidSetting::new(format!("`{key}` is not one of {keys}")));
                }
            }
        }
        table.try_into()
    }
}

/// Reads text as on the command line, or a table.
impl<'de> Deserialize<'de> for InputLayer {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct LayerVisitor;
        impl<'de> serde::de::Visitor<'de> for LayerVisitor {
            type Value = InputLayer;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table such as { frames = 3, stride = 2, units = 16, activation = \"relu\" }")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<InputLayer, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<InputLayer, A::Error> {
                let table = Table::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                table.try_into().map_err(serde::de::Error::custom)
            }
        }
        d.deserialize_any(LayerVisitor)
    }
}

/// As on the command line.
impl std::fmt::Display for InputLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { frames, stride, units, activation } = self;
        let activation = activation.choice_name();
        write!(f, "frames={frames},stride={stride},units={units},activation={activation}")
    }
}

text_setting!(InputLayer);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_layer_is_text_or_a_table() {
        let layer: InputLayer = "frames=3,stride=2,units=16,activation=tanh".parse().unwrap();
        assert_eq!((layer.frames, layer.stride, layer.units), (3, 2, 16));
        assert_eq!(layer.activation, Nonlinearity::Tanh);
        assert_eq!(layer.to_string().parse(), Ok(layer));
        let json = serde_json::to_string(&layer).unwrap();
        assert_eq!(serde_json::from_str::<InputLayer>(&json).unwrap(), layer);
        let short: InputLayer = "frames=4,units=8".parse().unwrap();
        assert_eq!((short.stride, short.activation), (1, Nonlinearity::Relu));
        let cell = layer.cell(5);
        assert_eq!((cell.input, cell.hidden, cell.form_u), (15, 16, MatrixForm::Absent));
    }

    #[test]
    fn the_wrong_part_is_named() {
        for (text, expected) in [
            ("frames=3", "`units` is missing"),
            ("units=3", "`frames` is missing"),
            ("frames=3,stride=4,units=2", "`stride=4` is not between 1 and 3"),
            ("frames=3,stride=0,units=2", "`stride=0`"),
            ("frames=256,units=2", "`frames=256`"),
            ("frames=2,units=0", "`units=0`"),
            ("frames=x,units=0", "`x` in `frames=x`"),
            ("frame=2,units=1", "`frame` is not one of"),
            ("frames", "`frames` is not a part"),
            ("frames=2,units=1,activation=soft", "`soft`"),
        ] {
            let error = text.parse::<InputLayer>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
