//! Ways a feature spec can be wrong.

/// A feature spec that says nothing, or nothing that can be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// It does not start with a kind of features.
    #[error("features = \"{0}\": no such features; start with log-mel or mfcc, settings after a comma")]
    Kind(
        /// The first word.
        String,
    ),
    /// Not of the form `name=value`.
    #[error("features: '{0}' is no setting; write name=value, like filters=32")]
    Form(
        /// What is between two commas.
        String,
    ),
    /// A name that no setting has.
    #[error(
        "features: no setting '{0}'; there are rate, window, hop, filters, low, high, pre-emphasis, floor and, for mfcc, coefficients"
    )]
    Setting(
        /// The name.
        String,
    ),
    /// A setting said twice.
    #[error("features: {0} is set twice; leave one out")]
    Twice(
        /// The setting.
        &'static str,
    ),
    /// A value that is not a number, or a time without a unit that is known.
    #[error("features: {setting}={value} is not {wanted}")]
    Value {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it has to be, with an example.
        wanted: &'static str,
    },
    /// A number out of range.
    #[error("features: {setting}={value} is out of range: {low} to {high}")]
    Range {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// Least.
        low: f64,
        /// Most.
        high: f64,
    },
    /// Log-mel has no coefficients.
    #[error("features: coefficients={0} is for mfcc; leave it out, or write mfcc instead of log-mel")]
    Coefficients(
        /// The value.
        String,
    ),
    /// Filters so narrow that two neighbours share an edge.
    #[error(
        "features: filter {filter} of {filters} between {low} and {high} Hz is narrower than the spectrum's step of {step:.1} Hz; use fewer filters or a longer window"
    )]
    Narrow {
        /// The first such filter, from 1.
        filter: usize,
        /// The number given.
        filters: usize,
        /// The band's lower end.
        low: u32,
        /// The band's upper end.
        high: u32,
        /// Distance of two points of the spectrum.
        step: f64,
    },
}
