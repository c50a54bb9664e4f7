//! A group of keys, and the macro that declares one.

use super::{Key, OutOfRange};
use serde::de::MapAccess;
use serde::ser::SerializeMap;

/// A key without a value where every key needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} has no value, and its default depends on the data")]
pub struct MissingKey(pub &'static str);

/// A group of keys as a person writes them: each may be left out.
pub trait Group: Clone + Default {
    /// The same keys with their final values.
    type Config;

    /// The keys in the order of their declaration.
    fn keys() -> Vec<Key>;

    /// This group, with every key that `over` has taken from there.
    fn overlay(self, over: Self) -> Self;

    /// This group with the constant defaults filled in.
    fn with_defaults(self) -> Self;

    /// The final values. Fails at a key without one whose default depends on the data.
    fn complete(self) -> Result<Self::Config, MissingKey>;

    /// Checks every value against its declared range.
    fn check(&self) -> Result<(), OutOfRange>;

    /// This group without the keys that are declared `local`.
    fn portable(self) -> Self;

    /// Reads the value of `key` from a map, if the key belongs to this group.
    fn read<'de, M: MapAccess<'de>>(&mut self, key: &str, map: &mut M) -> Result<bool, M::Error>;

    /// Writes the keys that have a value into a map.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Declares a group of settings; see the [module](mod@crate::settings) for an example.
///
/// Each key is declared as
///
/// ```text
/// /// Help text, without a full stop
/// name: Type = default, option, option…;
/// ```
///
/// The default is one of
///
/// - `constant(VALUE)`: the value when the key is not given; help shows it,
/// - `derived` or `derived("TEXT")`: the value follows from the data or from other keys, as the text says; the code
///   that completes the group has to set it,
/// - `optional` or `optional("TEXT")`: the key may stay unset; the text says what happens then,
/// - `assumed(VALUE)`: the key may stay unset, so that code can tell whether it was given; the code
///   that reads it then assumes the value, which help shows.
///
/// The options are
///
/// - `value("NAME")`: stands for the value in help texts,
/// - `range(RULE)`: a range or another [`Rule`](crate::settings::Rule) that the value must satisfy,
/// - `alias("OTHER-NAME")`: another name of the key,
/// - `local`: the key does not change a result; a model does not remember it.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $heading:literal, $recipe:ident => $config:ident {
            $(
                $(#[doc = $help:literal])+
                $name:ident: $type:ty = $default:ident $(($($value:tt)*))?
                    $(, $option:ident $(($($argument:tt)*))?)*;
            )+
        }
    ) => {
        $(#[$meta])*
        ///
        /// A key that is `None` was not given.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $recipe {
            $($(#[doc = $help])+ pub $name: Option<$type>,)+
        }

        $(#[$meta])*
        ///
        /// Every key has its final value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $($(#[doc = $help])+ pub $name: $crate::setting_type!($default $type),)+
        }

        impl $crate::settings::Group for $recipe {
            type Config = $config;

            fn keys() -> Vec<$crate::settings::Key> {
                vec![$(
                    $crate::settings::Key::new(
                        stringify!($name),
                        $heading,
                        concat!($($help),+),
                        $crate::setting_default_text!($type, $default $(($($value)*))?),
                    )$(.$option($($($argument)*)?))*,
                )+]
            }

            fn overlay(self, over: Self) -> Self {
                Self { $($name: over.$name.or(self.$name),)+ }
            }

            fn with_defaults(self) -> Self {
                Self { $($name: $crate::setting_default!((self.$name) $default $(($($value)*))?),)+ }
            }

            fn complete(self) -> Result<$config, $crate::settings::MissingKey> {
                Ok($config { $($name: $crate::setting_complete!((self.$name) $default $name),)+ })
            }

            fn check(&self) -> Result<(), $crate::settings::OutOfRange> {
                $(
                    $crate::settings::KeyCheck::new(stringify!($name), self.$name.as_ref())
                        $(.$option($($($argument)*)?))*
                        .finish()?;
                )+
                Ok(())
            }

            fn portable(mut self) -> Self {
                for key in Self::keys().iter().filter(|key| key.is_local()) {
                    match key.name().replace('-', "_").as_str() {
                        $(stringify!($name) => self.$name = None,)+
                        _ => {}
                    }
                }
                self
            }

            fn read<'de, M: $crate::settings::serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut M,
            ) -> Result<bool, M::Error> {
                match key.replace('-', "_").as_str() {
                    $(stringify!($name) if !key.contains('_') => self.$name = Some(map.next_value()?),)+
                    _ => {
                        let keys = Self::keys();
                        match keys.iter().find(|known| known.other_name() == Some(key)) {
                            Some(known) => return self.read(known.name(), map),
                            None => return Ok(false),
                        }
                    }
                }
                Ok(true)
            }

            fn write<M: $crate::settings::serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $(
                    if let Some(value) = &self.$name {
                        map.serialize_entry(&stringify!($name).replace('_', "-"), value)?;
                    }
                )+
                Ok(())
            }
        }

        impl From<$config> for $recipe {
            fn from(config: $config) -> Self {
                Self { $($name: $crate::setting_given!((config.$name) $default),)+ }
            }
        }

        #[cfg(feature = "clap")]
        impl $crate::settings::clap::Args for $recipe {
            fn augment_args(command: $crate::settings::clap::Command) -> $crate::settings::clap::Command {
                let mut keys = <Self as $crate::settings::Group>::keys().into_iter();
                $(
                    let key = keys.next().expect(concat!("keys() lists ", stringify!($name)));
                    let command = command.arg($crate::settings::flag::<$type>(&key));
                )+
                command
            }

            fn augment_args_for_update(
                command: $crate::settings::clap::Command,
            ) -> $crate::settings::clap::Command {
                Self::augment_args(command)
            }
        }

        #[cfg(feature = "clap")]
        impl $crate::settings::clap::FromArgMatches for $recipe {
            fn from_arg_matches(
                matches: &$crate::settings::clap::ArgMatches,
            ) -> Result<Self, $crate::settings::clap::Error> {
                Self::from_arg_matches_mut(&mut matches.clone())
            }

            fn from_arg_matches_mut(
                matches: &mut $crate::settings::clap::ArgMatches,
            ) -> Result<Self, $crate::settings::clap::Error> {
                Ok(Self { $($name: $crate::settings::take(stringify!($name), matches),)+ })
            }

            fn update_from_arg_matches(
                &mut self,
                matches: &$crate::settings::clap::ArgMatches,
            ) -> Result<(), $crate::settings::clap::Error> {
                let over = Self::from_arg_matches(matches)?;
                *self = $crate::settings::Group::overlay(self.clone(), over);
                Ok(())
            }
        }
    };
}

/// The type of a key in the config: optional keys may stay unset.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_type {
    (optional $type:ty) => { Option<$type> };
    (assumed $type:ty) => { Option<$type> };
    ($default:ident $type:ty) => { $type };
}

/// What help says about the value of a key that is not given.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_default_text {
    ($type:ty, constant ($($value:tt)*)) => {
        Some(<$type as $crate::settings::Setting>::text(&{ $($value)* }))
    };
    ($type:ty, assumed ($($value:tt)*)) => {
        Some(<$type as $crate::settings::Setting>::text(&{ $($value)* }))
    };
    ($type:ty, $default:ident ($text:literal)) => { Some(String::from($text)) };
    ($type:ty, $default:ident) => { None };
}

/// The value of a key once constant defaults are filled in.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_default {
    (($given:expr) constant ($($value:tt)*)) => { $given.or_else(|| Some($($value)*)) };
    (($given:expr) $default:ident $($text:tt)?) => { $given };
}

/// The final value of a key.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_complete {
    (($given:expr) optional $name:ident) => {
        $given
    };
    (($given:expr) assumed $name:ident) => {
        $given
    };
    (($given:expr) $default:ident $name:ident) => {
        $given.ok_or($crate::settings::MissingKey(stringify!($name)))?
    };
}

/// A final value as if it had been given.
#[doc(hidden)]
#[macro_export]
macro_rules! setting_given {
    (($value:expr) optional) => {
        $value
    };
    (($value:expr) assumed) => {
        $value
    };
    (($value:expr) $default:ident) => {
        Some($value)
    };
}
