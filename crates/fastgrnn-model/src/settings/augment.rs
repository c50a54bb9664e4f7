//! Augmentation: which random changes training sequences get.

use fastgrnn_core::settings::InvalidSetting;
use fastgrnn_core::text_setting;
use fastgrnn_data::data::Spectral;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares the augmentations: their keys, in files and on the command line.
macro_rules! augmentations {
    ($($(#[$meta:meta])* $name:ident: $kind:ty,)+) => {
        /// Random changes of a training sequence each time it is used; 0 turns one off.
        ///
        /// On the command line `rotate=0.25,scale=0.1` or `none`; in TOML
        /// `{ rotate = 0.25, scale = 0.1 }` or `"none"`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub struct AugmentSetting {
            $($(#[$meta])* #[serde(skip_serializing_if = "is_zero")] pub $name: $kind,)+
        }

        /// The table of a file.
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        struct AugmentTable {
            $($name: $kind,)+
        }

        impl From<AugmentTable> for AugmentSetting {
            fn from(table: AugmentTable) -> Self {
                Self { $($name: table.$name,)+ }
            }
        }

        impl AugmentSetting {
            /// All keys, as written in files and flags.
            pub fn keys() -> Vec<String> {
                [$(stringify!($name),)+].iter().map(|name| name.replace('_', "-")).collect()
            }

            fn set(&mut self, key: &str, value: &str) -> Result<(), InvalidSetting> {
                match key.replace('-', "_").as_str() {
                    $(stringify!($name) => self.$name = Number::read(key, value)?,)+
                    _ => {
                        let keys = Self::keys().join(", ");
                        return Err(InvalidSetting::new(format!("`{key}` is not one of {keys}")));
                    }
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
    /// Largest signal-to-noise ratio of that, in dB.
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

    /// The changes of log-mel features, and the masks.
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

/// A number of an augmentation.
trait Number: FromStr {
    /// What the number is called in messages.
    const KIND: &'static str;

    fn read(key: &str, value: &str) -> Result<Self, InvalidSetting> {
        let wrong = || format!("`{}` in `{key}={value}` is not a {}", value.trim(), Self::KIND);
        value.trim().parse().map_err(|_| InvalidSetting::new(wrong()))
    }
}

impl Number for f64 {
    const KIND: &'static str = "number";
}

impl Number for usize {
    const KIND: &'static str = "whole number";
}

impl FromStr for AugmentSetting {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        let mut setting = Self::none();
        if s == "none" {
            return Ok(setting);
        }
        for part in s.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| InvalidSetting::new(format!("`{part}` is not like rotate=0.25")))?;
            setting.set(key.trim(), value)?;
        }
        Ok(setting)
    }
}

/// Reads `"none"`, text as on the command line, or a table.
impl<'de> Deserialize<'de> for AugmentSetting {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct TextOrTable;
        impl<'de> serde::de::Visitor<'de> for TextOrTable {
            type Value = AugmentSetting;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"none\" or a table such as { rotate = 0.25, scale = 0.1 }")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AugmentSetting, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<AugmentSetting, A::Error> {
                AugmentTable::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    .map(AugmentSetting::from)
            }
        }
        d.deserialize_any(TextOrTable)
    }
}

text_setting!(AugmentSetting);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn augmentation_names_the_part_it_cannot_read() {
        let all: AugmentSetting =
            "rotate=0.25,scale=0.1,noise=0.05,shift=3,crop=0.9,pixel-shift=2".parse().unwrap();
        assert_eq!((all.rotate, all.shift, all.pixel_shift), (0.25, 3, 2));
        assert_eq!("none".parse::<AugmentSetting>().unwrap(), AugmentSetting::none());
        assert!("rotat=1".parse::<AugmentSetting>().unwrap_err().to_string().contains("rotat"));
        assert!("shift=0.5".parse::<AugmentSetting>().unwrap_err().to_string().contains("0.5"));
    }
}
