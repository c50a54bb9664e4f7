//! The share of an epoch that named classes get: `marvin=0.25`, or several, `yes=0.1,no=0.1`.
//!
//! ```
//! use fastgrnn_model::settings::ClassShare;
//! let share: ClassShare = "marvin=0.25,silence=0.1".parse().unwrap();
//! assert_eq!(share.0[0], ("marvin".to_string(), 0.25));
//! assert_eq!(share.to_string(), "marvin=0.25,silence=0.1");
//! ```

use fastgrnn_core::settings::InvalidSetting;
use fastgrnn_core::text_setting;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Shares may exceed 1 by this much: thirds are written with a few digits.
const ROUNDING: f64 = 1e-3;

/// Classes and the share of an epoch's draws that comes from each; what is left over comes from
/// all other classes, in their natural proportion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassShare(pub Vec<(String, f64)>);

fn wrong(problem: String) -> InvalidSetting {
    InvalidSetting::new(problem)
}

impl FromStr for ClassShare {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        let mut shares: Vec<(String, f64)> = Vec::new();
        for part in s.split(',') {
            // A class name may hold the sign, a number does not.
            let (name, share) =
                part.rsplit_once('=').ok_or_else(|| wrong(format!("`{part}` is not like marvin=0.25")))?;
            let (name, share) = (name.trim(), share.trim());
            let value: f64 =
                share.parse().map_err(|_| wrong(format!("`{share}` in `{part}` is not a number")))?;
            if !(value > 0.0 && value <= 1.0) {
                return Err(wrong(format!("the share `{share}` of {name} is not above 0 and at most 1")));
            }
            if name.is_empty() || shares.iter().any(|(n, _)| n == name) {
                return Err(wrong(format!("`{part}` names no class, or one that has a share already")));
            }
            shares.push((name.to_owned(), value));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        match sum <= 1.0 + ROUNDING {
            true => Ok(Self(shares)),
            false => Err(wrong(format!("the shares add up to {}, more than 1", (sum * 1e4).round() / 1e4))),
        }
    }
}

impl fmt::Display for ClassShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, share)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={share}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl Serialize for ClassShare {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClassShare {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

text_setting!(ClassShare);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_cannot_be_names_what_is_wrong() {
        for (text, part) in [
            ("", "is not like"),
            ("marvin", "`marvin` is not like"),
            ("marvin=much", "`much`"),
            ("marvin=0", "`0` of marvin"),
            ("marvin=1.5", "`1.5`"),
            ("marvin=NaN", "`NaN`"),
            ("=0.5", "names no class"),
            ("a=0.5,a=0.2", "has a share already"),
            ("a=0.7,b=0.6", "add up to 1.3"),
        ] {
            let error = text.parse::<ClassShare>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!("x=y=0.5".parse::<ClassShare>().unwrap().0, [("x=y".to_string(), 0.5)]);
    }
}
