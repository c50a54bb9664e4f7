//! The values a recipe's keys may take, each readable from a flag and from TOML.

use super::choice::choice;
use fastgrnn_core::cells::{MatrixForm, Scalar};
use fastgrnn_core::initial::{Loose, decimal};
use fastgrnn_data::data::Spectral;
use fastgrnn_data::data::augment::parse_axes;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

choice! {
    /// How a gradient becomes an update.
    Optimizer {
        /// Stochastic gradient descent.
        Sgd = "sgd",
        /// Gradient descent with Nesterov momentum.
        Nesterov = "nesterov",
        /// Adam; weight decay is added to the gradient.
        #[default]
        Adam = "adam",
        /// Adam with decoupled weight decay.
        AdamW = "adamw",
    }
}

choice! {
    /// How the learning rate falls over the run, after its warm-up.
    Schedule {
        /// It does not.
        Constant = "constant",
        /// x 0.1 every `decay-every` epochs (default: once, after two thirds).
        Step = "step",
        /// x 0.5 every `decay-every` epochs (default: a quarter of the run).
        Halving = "halving",
        /// Half a cosine, down to 0.
        #[default]
        Cosine = "cosine",
    }
}

choice! {
    /// What happens after validation has chosen an epoch.
    Refit {
        /// The model of the best validation epoch is the result.
        #[default]
        None = "none",
        /// A fresh start on all training data, stopped after the chosen number of epochs; only
        /// for runs of one stage.
        BestEpochs = "best-epochs",
        /// A fresh start on all training data for the whole schedule; its last epoch is the result.
        Full = "full",
    }
}

choice! {
    /// How classes count in the loss.
    ClassWeight {
        /// Every sequence counts the same.
        #[default]
        None = "none",
        /// Every class counts the same: a sequence weighs n / (classes x size of its class).
        Balanced = "balanced",
    }
}

choice! {
    /// The form of W or U.
    FormSetting {
        /// A matrix of parameters, or two factors where a rank is given.
        #[default]
        Full = "full",
        /// A diagonal in each of the cell's blocks.
        Diagonal = "diagonal",
        /// No matrix.
        None = "none",
    }
}

impl FormSetting {
    /// As a cell declares it, with the rank that goes with `full`.
    pub fn with_rank(self, rank: Rank) -> MatrixForm {
        match self {
            Self::Full => MatrixForm::of_rank(rank.columns()),
            Self::Diagonal => MatrixForm::Diagonal,
            Self::None => MatrixForm::Absent,
        }
    }
}

/// The rank of W or U: `full` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// One matrix.
    #[default]
    Full,
    /// A product of two factors with this many columns.
    Of(usize),
}

impl Rank {
    /// As a cell declares it.
    pub fn columns(self) -> Option<usize> {
        match self {
            Self::Full => None,
            Self::Of(rank) => Some(rank),
        }
    }
}

impl FromStr for Rank {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "full" => Ok(Self::Full),
            s => s.parse().map(Self::Of).map_err(|_| format!("`{s}` is neither a number nor `full`")),
        }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Of(rank) => write!(f, "{rank}"),
        }
    }
}

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Full => s.serialize_str("full"),
            Self::Of(rank) => s.serialize_u64(*rank as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Rank {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match Loose::deserialize(d).map_err(|_| D::Error::custom("a rank is a number or \"full\""))? {
            Loose::Plain(rank) => Ok(Self::Of(rank)),
            Loose::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// How one of alpha, beta, zeta, nu gets its value: `learnt`, `tied`, or a number to hold it at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalarSetting(pub Scalar);

impl FromStr for ScalarSetting {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "learnt" => Ok(Self(Scalar::Learnt)),
            "tied" => Ok(Self(Scalar::Tied)),
            s => s
                .parse()
                .map(|value| Self(Scalar::Fixed(value)))
                .map_err(|_| format!("`{s}` is none of `learnt`, `tied` and a number")),
        }
    }
}

impl Serialize for ScalarSetting {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Scalar::Learnt => s.serialize_str("learnt"),
            Scalar::Tied => s.serialize_str("tied"),
            Scalar::Fixed(value) => s.serialize_f64(decimal(value)),
        }
    }
}

impl<'de> Deserialize<'de> for ScalarSetting {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let what = "expected \"learnt\", \"tied\" or a number";
        match Loose::<f64>::deserialize(d).map_err(|_| D::Error::custom(what))? {
            Loose::Plain(value) => Ok(Self(Scalar::Fixed(value as f32))),
            Loose::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// Columns that are the x, y, z of one sensor, written `0-2,3-5`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes(pub Vec<[usize; 3]>);

impl FromStr for Axes {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "none" => Ok(Self::default()),
            s => parse_axes(s).map(Self).map_err(|error| error.to_string()),
        }
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (i, [first, _, last]) in self.0.iter().enumerate() {
            write!(f, "{}{first}-{last}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl Serialize for Axes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

/// Declares the augmentations: their keys, in files and on the command line.
macro_rules! augmentations {
    ($($(#[$meta:meta])* $name:ident: $kind:ty,)+) => {
        /// What happens to a training sequence each time it is used. 0 means not at all.
        ///
        /// On the command line `rotate=0.25,scale=0.1` or `none`; in TOML
        /// `{ rotate = 0.25, scale = 0.1 }` or `"none"`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct AugmentSetting {
            $($(#[$meta])* #[serde(skip_serializing_if = "is_zero")] pub $name: $kind,)+
        }

        impl AugmentSetting {
            /// All keys, as written in files and flags.
            pub fn keys() -> Vec<String> {
                [$(stringify!($name),)+].iter().map(|name| name.replace('_', "-")).collect()
            }

            fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
                match key.replace('-', "_").as_str() {
                    $(stringify!($name) => self.$name = number(key, value)?,)+
                    _ => return Err(format!("`{key}` is none of {}", Self::keys().join(", "))),
                }
                Ok(())
            }
        }
    };
}

augmentations! {
    /// Deviation in radians of a random rotation of the axis triples, the same for all of them.
    rotate: f64,
    /// Deviation of a random factor around 1 on each axis triple.
    scale: f64,
    /// Deviation of noise added to each normalised value.
    noise: f64,
    /// Most time steps that a sequence is shifted by.
    shift: usize,
    /// Smallest share of a sequence that a random crop keeps; 0 keeps all of it.
    crop: f64,
    /// Most pixels that an image is shifted by in each direction.
    pixel_shift: usize,
    /// Audio features: the most that the level is changed, in nats of energy.
    gain: f64,
    /// Audio features: share of the sequences that background noise is mixed into.
    background: f64,
    /// Least signal-to-noise ratio of that, in dB.
    snr_low: f64,
    /// Largest.
    snr_high: f64,
    /// Folders of recordings: varied copies of each training clip (moved in time, louder or softer,
    /// with background noise of that ratio), made from its audio.
    audio_copies: usize,
    /// Most time steps of other training sequences put before a sequence; grows to that over the
    /// first half of the run.
    lead_in: usize,
    /// Bands of neighbouring features that are hidden.
    freq_masks: usize,
    /// Most features of such a band.
    freq_width: usize,
    /// Stretches of time steps that are hidden.
    time_masks: usize,
    /// Most time steps of such a stretch.
    time_width: usize,
}

impl AugmentSetting {
    /// No augmentation.
    pub fn none() -> Self {
        Self::default()
    }

    /// What of it acts on logarithms of energies, and masks.
    pub fn spectral(&self) -> Spectral {
        Spectral {
            gain: self.gain as f32,
            background: self.background as f32,
            snr_low: self.snr_low as f32,
            snr_high: self.snr_high as f32,
            lead_in: self.lead_in,
            freq_masks: self.freq_masks,
            freq_width: self.freq_width,
            time_masks: self.time_masks,
            time_width: self.time_width,
        }
    }
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn number<T: FromStr + Default>(key: &str, value: &str) -> Result<T, String> {
    let whole = std::any::type_name::<T>() == "usize";
    let kind = if whole { "whole number" } else { "number" };
    value.trim().parse().map_err(|_| format!("`{}` in `{key}={value}` is not a {kind}", value.trim()))
}

impl FromStr for AugmentSetting {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let mut setting = Self::none();
        if s == "none" {
            return Ok(setting);
        }
        for part in s.split(',') {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}` is not like rotate=0.25"))?;
            setting.set(key.trim(), value)?;
        }
        Ok(setting)
    }
}

/// Reads `"none"`, a string as on the command line, or a table.
pub(super) fn augment<'de, D: Deserializer<'de>>(d: D) -> Result<Option<AugmentSetting>, D::Error> {
    struct Either;
    impl<'de> serde::de::Visitor<'de> for Either {
        type Value = AugmentSetting;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("\"none\" or a table such as { rotate = 0.25, scale = 0.1 }")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AugmentSetting, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<AugmentSetting, A::Error> {
            AugmentSetting::deserialize(serde::de::value::MapAccessDeserializer::new(map))
        }
    }
    d.deserialize_any(Either).map(Some)
}

/// A number, or a list of them.
pub(super) fn numbers<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<f64>>, D::Error> {
    struct Either;
    impl<'de> serde::de::Visitor<'de> for Either {
        type Value = Vec<f64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number or a list of numbers")
        }

        fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Vec<f64>, E> {
            Ok(vec![value])
        }

        fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Vec<f64>, E> {
            Ok(vec![value as f64])
        }

        fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Vec<f64>, E> {
            Ok(vec![value as f64])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = list.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }
    d.deserialize_any(Either).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_written_as_they_are_read() {
        let axes: Axes = "0-2,6-8".parse().unwrap();
        assert_eq!(axes.0, [[0, 1, 2], [6, 7, 8]]);
        assert_eq!(axes.to_string(), "0-2,6-8");
        assert!("0-3".parse::<Axes>().unwrap_err().contains("0-3"));
        assert!("18446744073709551615-1".parse::<Axes>().is_err());
    }

    #[test]
    fn augmentation_names_the_part_it_cannot_read() {
        let all: AugmentSetting =
            "rotate=0.25,scale=0.1,noise=0.05,shift=3,crop=0.9,pixel-shift=2".parse().unwrap();
        assert_eq!((all.rotate, all.shift, all.pixel_shift), (0.25, 3, 2));
        assert_eq!("none".parse::<AugmentSetting>().unwrap(), AugmentSetting::none());
        assert!("rotat=1".parse::<AugmentSetting>().unwrap_err().contains("rotat"));
        assert!("shift=0.5".parse::<AugmentSetting>().unwrap_err().contains("0.5"));
    }

    #[test]
    fn scalars_and_ranks_read_names_and_numbers() {
        assert_eq!("0.25".parse::<ScalarSetting>().unwrap().0, Scalar::Fixed(0.25));
        assert_eq!("tied".parse::<ScalarSetting>().unwrap().0, Scalar::Tied);
        assert_eq!("full".parse::<Rank>().unwrap().columns(), None);
    }
}
