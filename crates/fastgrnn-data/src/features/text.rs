//! A spec as text: `log-mel` or `mfcc`, then settings after commas. Reading fills in the rest;
//! writing says all, so that a model file does not depend on defaults.

use super::error::SpecError;
use super::spec::{Kind, Spec};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

const SETTINGS: [&str; 9] =
    ["rate", "window", "hop", "filters", "low", "high", "pre-emphasis", "floor", "coefficients"];

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split(',').map(str::trim);
        let kind = match parts.next().unwrap_or_default() {
            "log-mel" => Kind::LogMel,
            "mfcc" => Kind::Mfcc,
            other => return Err(SpecError::Kind(other.to_owned())),
        };
        let given = Given::read(parts)?;
        if let (Kind::LogMel, Some(value)) = (kind, given.of("coefficients")) {
            return Err(SpecError::Coefficients(value.to_owned()));
        }
        let paper = Self::default();
        let rate = given.whole("rate", paper.rate)?;
        Self {
            kind,
            rate,
            window: given.time("window", rate, 25.0)?,
            hop: given.time("hop", rate, 10.0)?,
            filters: given.whole("filters", paper.filters as u32)? as usize,
            low: given.whole("low", paper.low)?,
            high: given.whole("high", rate / 2)?,
            pre_emphasis: given.number("pre-emphasis", paper.pre_emphasis)?,
            floor: given.number("floor", paper.floor)?,
            coefficients: given.whole("coefficients", paper.coefficients as u32)? as usize,
        }
        .checked()
    }
}

/// The settings that a text makes, by name.
struct Given<'a>([Option<&'a str>; SETTINGS.len()]);

impl<'a> Given<'a> {
    fn read(parts: impl Iterator<Item = &'a str>) -> Result<Self, SpecError> {
        let mut given = Self([None; SETTINGS.len()]);
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| SpecError::Form(part.to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            let at = SETTINGS.iter().position(|&setting| setting == name);
            let at = at.ok_or_else(|| SpecError::Setting(name.to_owned()))?;
            if given.0[at].replace(value).is_some() {
                return Err(SpecError::Twice(SETTINGS[at]));
            }
        }
        Ok(given)
    }

    fn of(&self, setting: &'static str) -> Option<&'a str> {
        SETTINGS.iter().position(|&name| name == setting).and_then(|at| self.0[at])
    }

    fn whole(&self, setting: &'static str, default: u32) -> Result<u32, SpecError> {
        let Some(value) = self.of(setting) else { return Ok(default) };
        value.parse().map_err(|_| bad(setting, value, "a whole number"))
    }

    fn number(&self, setting: &'static str, default: f64) -> Result<f64, SpecError> {
        let Some(value) = self.of(setting) else { return Ok(default) };
        let number = value.parse().ok().filter(|number: &f64| number.is_finite());
        // -0 would not come back from its text as it was.
        number.map(|number| number + 0.0).ok_or_else(|| bad(setting, value, "a number"))
    }

    /// `25ms`, or `400` in samples.
    fn time(&self, setting: &'static str, rate: u32, default_ms: f64) -> Result<usize, SpecError> {
        let samples = |ms: f64| (ms * f64::from(rate) / 1_000.0).round() as usize;
        let Some(value) = self.of(setting) else { return Ok(samples(default_ms)) };
        let read = match value.strip_suffix("ms") {
            Some(ms) => ms.trim_end().parse().ok().filter(|ms: &f64| ms.is_finite()).map(samples),
            None => value.parse().ok(),
        };
        read.ok_or_else(|| bad(setting, value, "a time like 25ms or a number of samples like 400"))
    }
}

fn bad(setting: &'static str, value: &str, wanted: &'static str) -> SpecError {
    SpecError::Value { setting, value: value.to_owned(), wanted }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let time = |samples: usize| match (samples * 1_000) % self.rate as usize {
            0 => format!("{}ms", samples * 1_000 / self.rate as usize),
            _ => samples.to_string(),
        };
        write!(
            f,
            "{},rate={},window={},hop={},filters={},low={},high={},pre-emphasis={},floor={}",
            self.kind.name(),
            self.rate,
            time(self.window),
            time(self.hop),
            self.filters,
            self.low,
            self.high,
            self.pre_emphasis,
            self.floor
        )?;
        match self.kind {
            Kind::LogMel => Ok(()),
            Kind::Mfcc => write!(f, ",coefficients={}", self.coefficients),
        }
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        text.parse::<Spec>().expect_err(text).to_string()
    }

    #[test]
    fn what_is_left_out_is_the_papers() {
        assert_eq!("log-mel".parse(), Ok(Spec::default()));
        assert_eq!("log-mel, window=400, hop = 10ms".parse(), Ok(Spec::default()));
        let eight: Spec = "mfcc,rate=8000,filters=24,coefficients=10".parse().unwrap();
        assert_eq!((eight.window(), eight.hop(), eight.high(), eight.dim()), (200, 80, 4_000, 10));
    }

    #[test]
    fn every_mistake_says_what_to_write() {
        for (text, part) in [
            ("", "start with log-mel or mfcc"),
            ("spectrogram", "\"spectrogram\": no such features"),
            ("log-mel,filters", "'filters' is no setting"),
            ("log-mel,mels=40", "no setting 'mels'; there are rate, window"),
            ("log-mel,hop=10ms,hop=160", "hop is set twice"),
            ("log-mel,filters=many", "filters=many is not a whole number"),
            ("log-mel,floor=nan", "floor=nan is not a number"),
            ("log-mel,window=25s", "window=25s is not a time like 25ms"),
            ("log-mel,coefficients=10", "coefficients=10 is for mfcc"),
            ("mfcc,coefficients=33", "coefficients=33 is out of range: 1 to 32"),
            ("log-mel,high=9000", "high=9000 is out of range: 1 to 8000"),
            ("log-mel,low=8000", "low=8000 is out of range: 0 to 7999"),
            ("log-mel,hop=30ms", "hop=480 is out of range: 1 to 400"),
            ("log-mel,window=1s", "window=1s"),
            ("log-mel,rate=4294967295", "rate=4294967295 is out of range"),
            (
                "log-mel,filters=120",
                "of 120 between 0 and 8000 Hz is narrower than the spectrum's step of 31.2 Hz",
            ),
        ] {
            let error = error(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_spec_comes_back_from_its_text(
            rate in 4_000_u32..50_000, window in 64_usize..2_048, share in 0.1_f64..1.0, filters in 1_usize..12,
            pre in 0.0_f64..1.0, floor in -20.0_f64..20.0, mfcc: bool,
        ) {
            let hop = ((window as f64 * share) as usize).max(1);
            let kind = if mfcc { "mfcc,coefficients=1" } else { "log-mel" };
            let text = format!("{kind},rate={rate},window={window},hop={hop},filters={filters},pre-emphasis={pre},floor={floor}");
            if let Ok(spec) = text.parse::<Spec>() {
                prop_assert_eq!(spec.to_string().parse(), Ok(spec));
                let json = serde_json::to_string(&spec).unwrap();
                prop_assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
            }
        }

        #[test]
        fn no_text_panics(text in "(log-mel|mfcc)(,(rate|window|hop|filters|low|high|floor|pre-emphasis|coefficients)=-?[0-9]{0,9}(ms|e9|\\.5)?){0,4}") {
            let _ = text.parse::<Spec>();
        }
    }
}
