//! What features are computed: one value, always one that can be computed.

use super::error::SpecError;
use super::mel;

/// Which features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Logarithms of the energies behind mel filters.
    LogMel,
    /// The first coefficients of their discrete cosine transform.
    Mfcc,
}

impl Kind {
    /// As a spec's text says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LogMel => "log-mel",
            Self::Mfcc => "mfcc",
        }
    }
}

/// A feature spec. The default is the paper's: 32 log-mel energies of 25 ms every 10 ms.
///
/// ```
/// use fastgrnn_data::features::Spec;
/// let spec = Spec::default();
/// assert_eq!(
///     spec.to_string(),
///     "log-mel,rate=16000,window=25ms,hop=10ms,filters=32,low=0,high=8000,pre-emphasis=0.97,floor=-2"
/// );
/// assert_eq!("log-mel".parse(), Ok(spec));
/// assert_eq!((spec.dim(), spec.frames(16_000), spec.fft()), (32, 99, 512));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    pub(super) kind: Kind,
    pub(super) rate: u32,
    pub(super) window: usize,
    pub(super) hop: usize,
    pub(super) filters: usize,
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) pre_emphasis: f64,
    pub(super) floor: f64,
    pub(super) coefficients: usize,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            kind: Kind::LogMel,
            rate: 16_000,
            window: 400,
            hop: 160,
            filters: 32,
            low: 0,
            high: 8_000,
            pre_emphasis: 0.97,
            floor: -2.0,
            coefficients: DEFAULT_COEFFICIENTS,
        }
    }
}

/// Coefficients of an MFCC that does not say how many.
pub(super) const DEFAULT_COEFFICIENTS: usize = 13;

impl Spec {
    /// Which features.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Samples a second.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// Samples of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Samples from one window to the next.
    pub fn hop(&self) -> usize {
        self.hop
    }

    /// Points of the Fourier transform: the window padded to a power of two.
    pub fn fft(&self) -> usize {
        self.window.next_power_of_two()
    }

    /// Mel filters.
    pub fn filters(&self) -> usize {
        self.filters
    }

    /// The lowest frequency, in Hz.
    pub fn low(&self) -> u32 {
        self.low
    }

    /// The highest frequency, in Hz.
    pub fn high(&self) -> u32 {
        self.high
    }

    /// How much of the sample before is taken away from each sample.
    pub fn pre_emphasis(&self) -> f64 {
        self.pre_emphasis
    }

    /// The least log energy, in nats; less counts as this.
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// Values of a frame.
    pub fn dim(&self) -> usize {
        match self.kind {
            Kind::LogMel => self.filters,
            Kind::Mfcc => self.coefficients,
        }
    }

    /// Frames of this many samples: every whole window, and one padded with zeros if samples are
    /// left that no window has seen.
    pub fn frames(&self, samples: usize) -> usize {
        match samples {
            0 => 0,
            n if n <= self.window => 1,
            n => 1 + (n - self.window).div_ceil(self.hop),
        }
    }

    /// The edges of the filters, as points of the spectrum: filter `j` rises from `edges[j]` to
    /// `edges[j + 1]` and falls to `edges[j + 2]`.
    pub fn edges(&self) -> Vec<usize> {
        mel::edges(self.low, self.high, self.filters, self.fft(), self.rate)
    }

    /// Refuses what cannot be computed.
    pub(super) fn checked(self) -> Result<Self, SpecError> {
        let within = |setting, value: f64, low: f64, high: f64| match value >= low && value <= high {
            true => Ok(()),
            false => Err(SpecError::Range { setting, value, low, high }),
        };
        within("rate", f64::from(self.rate), 1_000.0, 192_000.0)?;
        within("window", self.window as f64, 32.0, 2_048.0)?;
        within("hop", self.hop as f64, 1.0, self.window as f64)?;
        within("filters", self.filters as f64, 1.0, 128.0)?;
        within("high", f64::from(self.high), 1.0, f64::from(self.rate / 2))?;
        within("low", f64::from(self.low), 0.0, f64::from(self.high - 1))?;
        within("pre-emphasis", self.pre_emphasis, 0.0, 1.0)?;
        within("floor", self.floor, -20.0, 20.0)?;
        if self.kind == Kind::Mfcc {
            within("coefficients", self.coefficients as f64, 1.0, self.filters as f64)?;
        }
        let edges = self.edges();
        match edges.windows(2).position(|pair| pair[0] >= pair[1]) {
            None => Ok(self),
            Some(at) => Err(SpecError::Narrow {
                filter: (at + 1).min(self.filters),
                filters: self.filters,
                low: self.low,
                high: self.high,
                step: f64::from(self.rate) / self.fft() as f64,
            }),
        }
    }
}
