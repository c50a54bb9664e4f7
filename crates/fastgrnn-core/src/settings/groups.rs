//! Groups put together.

/// Declares a struct of groups that reads and writes the keys of all of them as one flat table.
///
/// `Recipe => Config { field: GroupRecipe => GroupConfig, … }` also makes the struct of final values;
/// without the arrows there is only the recipe.
#[macro_export]
macro_rules! settings_groups {
    (
        $(#[$meta:meta])*
        $recipe:ident => $config:ident {
            $($(#[$field_meta:meta])* $name:ident: $group:ty => $group_config:ty,)+
        }
    ) => {
        $crate::settings_groups! {
            $(#[$meta])*
            $recipe { $($(#[$field_meta])* $name: $group,)+ }
        }

        $(#[$meta])*
        ///
        /// Every key has its final value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $($(#[$field_meta])* pub $name: $group_config,)+
        }

        impl $recipe {
            /// The final values. Fails at a key without one whose default depends on the data.
            pub fn complete(self) -> Result<$config, $crate::settings::MissingKey> {
                Ok($config { $($name: $crate::settings::Group::complete(self.$name)?,)+ })
            }
        }

        impl From<$config> for $recipe {
            fn from(config: $config) -> Self {
                Self { $($name: config.$name.into(),)+ }
            }
        }

        impl $crate::settings::serde::Serialize for $config {
            fn serialize<S: $crate::settings::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                $crate::settings::serde::Serialize::serialize(&$recipe::from(self.clone()), serializer)
            }
        }
    };
    (
        $(#[$meta:meta])*
        $recipe:ident { $($(#[$field_meta:meta])* $name:ident: $group:ty,)+ }
    ) => {
        $(#[$meta])*
        ///
        /// A key that is `None` was not given.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $recipe {
            $($(#[$field_meta])* pub $name: $group,)+
        }

        impl $recipe {
            /// All keys, group by group.
            pub fn keys() -> Vec<$crate::settings::Key> {
                let mut keys = Vec::new();
                $(keys.extend(<$group as $crate::settings::Group>::keys());)+
                keys
            }

            /// This recipe, with every key that `over` has taken from there.
            pub fn overlay(self, over: Self) -> Self {
                Self { $($name: $crate::settings::Group::overlay(self.$name, over.$name),)+ }
            }

            /// This recipe with the constant defaults filled in.
            pub fn with_defaults(self) -> Self {
                Self { $($name: $crate::settings::Group::with_defaults(self.$name),)+ }
            }

            /// This recipe with some keys changed.
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }

            /// Checks every value against its declared range.
            pub fn check_ranges(&self) -> Result<(), $crate::settings::OutOfRange> {
                $($crate::settings::Group::check(&self.$name)?;)+
                Ok(())
            }

            /// Whether no key is given.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }

        impl $crate::settings::serde::Serialize for $recipe {
            fn serialize<S: $crate::settings::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $($crate::settings::Group::write(&self.$name, &mut map)?;)+
                $crate::settings::serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> $crate::settings::serde::Deserialize<'de> for $recipe {
            fn deserialize<D: $crate::settings::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct Keys;

                impl<'de> $crate::settings::serde::de::Visitor<'de> for Keys {
                    type Value = $recipe;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table of settings")
                    }

                    fn visit_map<M: $crate::settings::serde::de::MapAccess<'de>>(
                        self,
                        mut map: M,
                    ) -> Result<$recipe, M::Error> {
                        let mut recipe = $recipe::default();
                        while let Some(key) = map.next_key::<String>()? {
                            let is_read =
                                $($crate::settings::Group::read(&mut recipe.$name, &key, &mut map)? ||)+ false;
                            if !is_read {
                                return Err($crate::settings::serde::de::Error::custom(format!(
                                    "unknown setting `{key}`"
                                )));
                            }
                        }
                        Ok(recipe)
                    }
                }

                deserializer.deserialize_map(Keys)
            }
        }

        #[cfg(feature = "clap")]
        impl $crate::settings::clap::Args for $recipe {
            fn augment_args(command: $crate::settings::clap::Command) -> $crate::settings::clap::Command {
                $(let command = <$group as $crate::settings::clap::Args>::augment_args(command);)+
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
                use $crate::settings::clap::FromArgMatches;
                Ok(Self { $($name: <$group>::from_arg_matches(matches)?,)+ })
            }

            fn update_from_arg_matches(
                &mut self,
                matches: &$crate::settings::clap::ArgMatches,
            ) -> Result<(), $crate::settings::clap::Error> {
                let over = <Self as $crate::settings::clap::FromArgMatches>::from_arg_matches(matches)?;
                *self = self.clone().overlay(over);
                Ok(())
            }
        }
    };
}
