//! Settings whose value is one name out of a fixed list.

use crate::cells::{CELLS, CellKind, Nonlinearity, Start};
use crate::net::Loss;

/// A type with a fixed list of named values.
///
/// The names are listed once; files, the help of the command line and error messages use them.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values, in the order in which help lists them.
    fn all() -> Vec<Self>;

    /// The name in files and on the command line.
    fn choice_name(self) -> &'static str;

    /// The value called `name`, in any case.
    fn choose(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|c| c.choice_name().eq_ignore_ascii_case(name))
    }
}

/// Makes a [`Choice`] a [`Setting`](crate::settings::Setting).
#[macro_export]
macro_rules! choice_setting {
    ($($kind:ty),+ $(,)?) => {$(
        impl $crate::settings::Setting for $kind {
            fn form() -> $crate::settings::Form {
                let all = <Self as $crate::settings::Choice>::all();
                $crate::settings::Form::Choice(all.into_iter().map($crate::settings::Choice::choice_name).collect())
            }

            fn from_flag(text: &str) -> Result<Self, $crate::settings::InvalidSetting> {
                <Self as $crate::settings::Choice>::choose(text).ok_or_else(|| {
                    let all = <Self as $crate::settings::Choice>::all();
                    let names: Vec<&str> = all.into_iter().map($crate::settings::Choice::choice_name).collect();
                    $crate::settings::InvalidSetting::new(format!(
                        "`{text}` is not one of {}",
                        names.join(", ")
                    ))
                })
            }
        }
    )+};
}

/// Declares an enum whose variants have the given names in files and on the command line.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $kind:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $kind {
            $($(#[$variant_meta])* #[serde(rename = $name)] $variant,)+
        }

        impl $crate::settings::Choice for $kind {
            fn all() -> Vec<Self> {
                vec![$(Self::$variant,)+]
            }

            fn choice_name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::settings::Choice::choice_name(*self))
            }
        }

        $crate::choice_setting!($kind);
    };
}

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

impl Choice for Start {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    fn choice_name(self) -> &'static str {
        self.name()
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

choice_setting!(CellKind, Nonlinearity, Start, Loss);

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
    }
}
