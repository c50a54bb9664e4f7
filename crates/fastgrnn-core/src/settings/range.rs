//! Which values a setting may take.

use std::fmt::Display;
use std::ops::{Range, RangeFrom, RangeInclusive};

/// A setting whose value is outside its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: it must be {expected}")]
pub struct OutOfRange {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The values that are allowed, such as `between 1 and 64`.
    pub expected: String,
}

/// A condition on the value of a setting.
pub trait Rule<T> {
    /// Whether the value is allowed.
    fn admits(&self, value: &T) -> bool;

    /// The allowed values in words, to follow "it must be".
    fn expected(&self) -> String;
}

impl<T: PartialOrd + Display> Rule<T> for Range<T> {
    fn admits(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn expected(&self) -> String {
        format!("at least {} and below {}", self.start, self.end)
    }
}

impl<T: PartialOrd + Display> Rule<T> for RangeInclusive<T> {
    fn admits(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn expected(&self) -> String {
        format!("between {} and {}", self.start(), self.end())
    }
}

impl<T: PartialOrd + Display> Rule<T> for RangeFrom<T> {
    fn admits(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn expected(&self) -> String {
        format!("at least {}", self.start)
    }
}

/// Values above a limit, up to and including another.
#[derive(Clone, Copy, Debug)]
pub struct Above<T> {
    low: T,
    high: T,
}

/// Values above `low`, up to and including `high`.
pub fn above<T>(low: T, high: T) -> Above<T> {
    Above { low, high }
}

impl<T: PartialOrd + Display> Rule<T> for Above<T> {
    fn admits(&self, value: &T) -> bool {
        *value > self.low && *value <= self.high
    }

    fn expected(&self) -> String {
        format!("above {} and at most {}", self.low, self.high)
    }
}

/// Values for which a function returns true.
#[derive(Clone, Copy, Debug)]
pub struct Holds<T> {
    test: fn(&T) -> bool,
    expected: &'static str,
}

/// Values for which `test` returns true; `expected` describes them.
pub fn holds<T>(test: fn(&T) -> bool, expected: &'static str) -> Holds<T> {
    Holds { test, expected }
}

impl<T> Rule<T> for Holds<T> {
    fn admits(&self, value: &T) -> bool {
        (self.test)(value)
    }

    fn expected(&self) -> String {
        self.expected.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_which_of_its_ends_it_includes() {
        assert_eq!(Rule::<f64>::expected(&(0.0..1.0)), "at least 0 and below 1");
        assert_eq!(Rule::<usize>::expected(&(1..=64)), "between 1 and 64");
        assert_eq!(Rule::<usize>::expected(&(1..)), "at least 1");
        assert_eq!(Rule::<f64>::expected(&above(0.0, 1.0)), "above 0 and at most 1");
    }

    #[test]
    fn no_range_admits_nan() {
        assert!(!(0.0..1.0).admits(&f64::NAN));
        assert!(!(0.0..=1.0).admits(&f64::NAN));
        assert!(!(0.0..).admits(&f64::NAN));
        assert!(!above(0.0, 1.0).admits(&f64::NAN));
    }
}
