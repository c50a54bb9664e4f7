//! Settings that are one name out of a few.
//!
//! A [`Choice`] lists its names once; the TOML reader, the command line's help and its error
//! messages all take them from there.

use fastgrnn_core::cells::{CELLS, CellKind, Nonlinearity, Start};
use fastgrnn_core::net::Loss;
use fastgrnn_data::data::{LabelKind, Normalize};
use fastgrnn_model::device::Board;

/// A setting with a closed list of names.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values, in the order in which help lists them.
    fn all() -> Vec<Self>;

    /// The name on the command line and in files.
    fn choice_name(self) -> &'static str;

    /// The value called `name`.
    fn choose(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|c| c.choice_name().eq_ignore_ascii_case(name))
    }
}

/// The command line's parser of a choice: it lists the names in help and in errors.
#[cfg(feature = "clap")]
pub(super) fn one_of<T: Choice>() -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(T::all().into_iter().map(T::choice_name))
        .map(|name| T::choose(&name).expect("the parser accepts listed names only"))
}

/// Declares an enum whose variants are written as the given names everywhere.
macro_rules! choice {
    ($(#[$meta:meta])* $kind:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $kind {
            $($(#[$variant_meta])* #[serde(rename = $name)] $variant,)+
        }

        impl crate::train::Choice for $kind {
            fn all() -> Vec<Self> {
                vec![$(Self::$variant,)+]
            }

            fn choice_name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(crate::train::Choice::choice_name(*self))
            }
        }
    };
}
pub(super) use choice;

impl Choice for CellKind {
    fn all() -> Vec<Self> {
        CELLS.iter().map(|d| d.kind).collect()
    }

    fn choice_name(self) -> &'static str {
        self.name()
    }
}

impl Choice for Nonlinearity {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    fn choice_name(self) -> &'static str {
        self.name()
    }
}

impl Choice for Board {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    fn choice_name(self) -> &'static str {
        self.id()
    }
}

impl Choice for Start {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    fn choice_name(self) -> &'static str {
        self.name()
    }
}

impl Choice for Normalize {
    fn all() -> Vec<Self> {
        vec![Self::PerFeature, Self::PerCoordinate, Self::None]
    }

    fn choice_name(self) -> &'static str {
        match self {
            Self::PerFeature => "per-feature",
            Self::PerCoordinate => "per-coordinate",
            Self::None => "none",
        }
    }
}

impl Choice for LabelKind {
    fn all() -> Vec<Self> {
        vec![Self::Auto, Self::Class, Self::Value]
    }

    fn choice_name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Class => "class",
            Self::Value => "value",
        }
    }
}

impl Choice for Loss {
    fn all() -> Vec<Self> {
        vec![Self::SoftmaxCrossEntropy, Self::BinaryCrossEntropy, Self::SquaredError]
    }

    fn choice_name(self) -> &'static str {
        match self {
            Self::SoftmaxCrossEntropy => "softmax-cross-entropy",
            Self::BinaryCrossEntropy => "binary-cross-entropy",
            Self::SquaredError => "squared-error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_agree_with_files<T: Choice + serde::Serialize + std::fmt::Debug>() {
        for value in T::all() {
            assert_eq!(serde_json::to_value(value).unwrap(), value.choice_name());
            assert_eq!(T::choose(value.choice_name()), Some(value));
        }
    }

    #[test]
    fn a_choice_has_one_name_on_the_command_line_and_in_files() {
        names_agree_with_files::<CellKind>();
        names_agree_with_files::<Nonlinearity>();
        names_agree_with_files::<Start>();
        names_agree_with_files::<Loss>();
        names_agree_with_files::<Normalize>();
        names_agree_with_files::<LabelKind>();
        names_agree_with_files::<crate::train::Optimizer>();
        names_agree_with_files::<crate::train::Schedule>();
        names_agree_with_files::<crate::train::Refit>();
    }
}
