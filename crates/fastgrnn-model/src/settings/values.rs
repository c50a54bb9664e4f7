//! The types of the keys, each readable from a flag and from a file.

use fastgrnn_core::cells::{MatrixForm, Orthogonal, Scalar};
use fastgrnn_core::initial::{TextOr, decimal};
use fastgrnn_core::settings::InvalidSetting;
use fastgrnn_core::{choice, text_setting};
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
        /// Averaged gradient descent: sgd, and from the first plateau of validation on the mean of all
        /// later parameters counts.
        Asgd = "asgd",
        /// Randomised stochastic gradient: sgd that ends at a step which is drawn by lot. No epoch is chosen.
        Rsg = "rsg",
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
    /// What the head reads of each sequence.
    ReadoutSetting {
        /// Its last state.
        #[default]
        Last = "last",
        /// The mean of all its states.
        Mean = "mean",
        /// The largest value of each unit over all its states.
        Max = "max",
    }
}

choice! {
    /// How the learning rate falls over the run, after its warm-up.
    Schedule {
        /// The learning rate does not change.
        Constant = "constant",
        /// Times 0.1 every `decay-every` epochs (default: once, after two thirds).
        Step = "step",
        /// Times 0.5 every `decay-every` epochs (default: a quarter of the run).
        Halving = "halving",
        /// Times `plateau-factor` whenever the validation loss has not fallen for `plateau-epochs` epochs.
        Plateau = "plateau",
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
        /// A fresh start on all training data, stopped after the chosen number of epochs.
        BestEpochs = "best-epochs",
        /// A fresh start on all training data for the whole schedule; its last epoch is the result.
        Full = "full",
    }
}

choice! {
    /// The weight of each class in the loss.
    ClassWeight {
        /// Every sequence has the same weight.
        #[default]
        None = "none",
        /// Every class has the same weight: that of a sequence is n / (classes × size of its class).
        Balanced = "balanced",
    }
}

choice! {
    /// The form of W or U.
    FormSetting {
        /// A matrix of parameters, or two factors if a rank is given.
        #[default]
        Full = "full",
        /// A diagonal in each of the cell's blocks.
        Diagonal = "diagonal",
        /// No matrix.
        None = "none",
    }
}

choice! {
    /// The form of U.
    RecurrentForm {
        /// A matrix of parameters, or two factors if a rank is given.
        #[default]
        Full = "full",
        /// A diagonal in each of the cell's blocks.
        Diagonal = "diagonal",
        /// No matrix.
        None = "none",
        /// An orthogonal matrix in each block: a product of reflections.
        Reflections = "reflections",
        /// Reflections, singular values near 1, reflections.
        Spectral = "spectral",
        /// Two orthogonal bases that Cayley transforms make, and singular values near 1.
        Factored = "factored",
        /// A unitary matrix whose complex numbers are pairs of units: layers of rotations of neighbours.
        Rotations = "rotations",
        /// The same with a layer of rotations for every distance that is a power of two.
        FftRotations = "fft-rotations",
    }
}

impl RecurrentForm {
    /// The form of the matrix, with the rank that goes with `full`.
    pub fn with_rank(self, rank: Rank) -> MatrixForm {
        self.plain().map_or(MatrixForm::Full, |form| form.with_rank(rank))
    }

    /// The same form as one that W can have; nothing for an orthogonal one.
    pub fn plain(self) -> Option<FormSetting> {
        match self {
            Self::Full => Some(FormSetting::Full),
            Self::Diagonal => Some(FormSetting::Diagonal),
            Self::None => Some(FormSetting::None),
            Self::Reflections | Self::Spectral | Self::Factored | Self::Rotations | Self::FftRotations => {
                None
            }
        }
    }

    /// How an orthogonal matrix of `hidden` rows is made, with what was set.
    pub fn orthogonal(
        self,
        hidden: usize,
        reflections: Option<usize>,
        margin: Option<f64>,
        rotations: Option<usize>,
    ) -> Option<Orthogonal> {
        let margin = margin.unwrap_or(SPECTRAL_MARGIN);
        match self {
            Self::Full | Self::Diagonal | Self::None => None,
            Self::Reflections => Some(Orthogonal::Reflections { count: reflections.unwrap_or(hidden) }),
            Self::Spectral => {
                let count = reflections.unwrap_or(SPECTRAL_REFLECTIONS.min(hidden));
                Some(Orthogonal::Spectral { count, margin })
            }
            Self::Factored => Some(Orthogonal::Factored { margin }),
            Self::Rotations => {
                let layers = rotations.unwrap_or(ROTATION_LAYERS.min(hidden / 2));
                Some(Orthogonal::Rotations { layers })
            }
            Self::FftRotations => Some(Orthogonal::FftRotations),
        }
    }
}

impl From<MatrixForm> for RecurrentForm {
    fn from(form: MatrixForm) -> Self {
        match form {
            MatrixForm::Full | MatrixForm::LowRank(_) => Self::Full,
            MatrixForm::Diagonal => Self::Diagonal,
            MatrixForm::Absent => Self::None,
        }
    }
}

/// Reflections on each side of the singular values, if nothing else is set.
pub const SPECTRAL_REFLECTIONS: usize = 16;
/// Layers of rotations, if nothing else is set.
pub const ROTATION_LAYERS: usize = 8;
/// How far singular values may lie from 1, if nothing else is set.
pub const SPECTRAL_MARGIN: f64 = 0.1;

impl FormSetting {
    /// The form of the matrix, with the rank that goes with `full`.
    pub fn with_rank(self, rank: Rank) -> MatrixForm {
        match self {
            Self::Full => MatrixForm::of_rank(rank.columns()),
            Self::Diagonal => MatrixForm::Diagonal,
            Self::None => MatrixForm::Absent,
        }
    }
}

impl From<MatrixForm> for FormSetting {
    fn from(form: MatrixForm) -> Self {
        match form {
            MatrixForm::Full | MatrixForm::LowRank(_) => Self::Full,
            MatrixForm::Diagonal => Self::Diagonal,
            MatrixForm::Absent => Self::None,
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
    /// The number of columns, or `None` for one full matrix.
    pub fn columns(self) -> Option<usize> {
        match self {
            Self::Full => None,
            Self::Of(rank) => Some(rank),
        }
    }
}

impl From<Option<usize>> for Rank {
    fn from(columns: Option<usize>) -> Self {
        columns.map_or(Self::Full, Self::Of)
    }
}

impl FromStr for Rank {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        match s {
            "full" => Ok(Self::Full),
            s => s
                .parse()
                .map(Self::Of)
                .map_err(|_| InvalidSetting::new(format!("`{s}` is neither a number nor `full`"))),
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
        match TextOr::deserialize(d).map_err(|_| D::Error::custom("a rank is a number or \"full\""))? {
            TextOr::Plain(rank) => Ok(Self::Of(rank)),
            TextOr::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// How one of alpha, beta, zeta, nu gets its value: `learnt`, `tied`, or a number to hold it at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalarSetting(pub Scalar);

impl FromStr for ScalarSetting {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        match s {
            "learnt" => Ok(Self(Scalar::Learnt)),
            "tied" => Ok(Self(Scalar::Tied)),
            s => s
                .parse()
                .map(|value| Self(Scalar::Fixed(value)))
                .map_err(|_| InvalidSetting::new(format!("`{s}` is neither `learnt`, `tied` nor a number"))),
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
        match TextOr::<f64>::deserialize(d).map_err(|_| D::Error::custom(what))? {
            TextOr::Plain(value) => Ok(Self(Scalar::Fixed(value as f32))),
            TextOr::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// Columns that are the x, y, z of one sensor, written `0-2,3-5`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes(pub Vec<[usize; 3]>);

impl FromStr for Axes {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        match s {
            "none" => Ok(Self::default()),
            s => parse_axes(s).map(Self).map_err(|error| InvalidSetting::new(error.to_string())),
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

/// One or several numbers, written `0.5` or `0.5,2`; a list in TOML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl FromStr for Numbers {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        let number = |part: &str| {
            let part = part.trim();
            part.parse().map_err(|_| InvalidSetting::new(format!("`{part}` is not a number")))
        };
        s.split(',').map(number).collect::<Result<_, _>>().map(Self)
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> serde::de::Visitor<'de> for OneOrMany {
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
        d.deserialize_any(OneOrMany).map(Numbers)
    }
}

text_setting!(Rank, ScalarSetting, Axes, Numbers = Signed);

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::settings::Choice;

    fn names_agree_with_files<T: Choice + Serialize + fmt::Debug>() {
        for value in T::all() {
            assert_eq!(serde_json::to_value(value).unwrap(), value.choice_name());
        }
    }

    #[test]
    fn a_choice_has_one_name_on_the_command_line_and_in_files() {
        names_agree_with_files::<Optimizer>();
        names_agree_with_files::<Schedule>();
        names_agree_with_files::<Refit>();
        names_agree_with_files::<ClassWeight>();
        names_agree_with_files::<FormSetting>();
        names_agree_with_files::<RecurrentForm>();
    }

    #[test]
    fn one_number_stands_for_a_list_of_one() {
        for (text, values) in
            [("0.5", vec![0.5]), ("2", vec![2.0]), ("-1", vec![-1.0]), ("[0.5, 2]", vec![0.5, 2.0])]
        {
            assert_eq!(serde_json::from_str::<Numbers>(text).unwrap().0, values, "{text}");
        }
        assert_eq!("-0.5,1".parse::<Numbers>().unwrap().0, [-0.5, 1.0]);
        assert!("1,x".parse::<Numbers>().unwrap_err().to_string().contains("`x`"));
    }

    #[test]
    fn axes_are_written_as_they_are_read() {
        let axes: Axes = "0-2,6-8".parse().unwrap();
        assert_eq!(axes.0, [[0, 1, 2], [6, 7, 8]]);
        assert_eq!(axes.to_string(), "0-2,6-8");
        assert!("0-3".parse::<Axes>().unwrap_err().to_string().contains("0-3"));
        assert!("18446744073709551615-1".parse::<Axes>().is_err());
    }

    #[test]
    fn scalars_and_ranks_read_names_and_numbers() {
        assert_eq!("0.25".parse::<ScalarSetting>().unwrap().0, Scalar::Fixed(0.25));
        assert_eq!("tied".parse::<ScalarSetting>().unwrap().0, Scalar::Tied);
        assert_eq!("full".parse::<Rank>().unwrap().columns(), None);
    }
}
