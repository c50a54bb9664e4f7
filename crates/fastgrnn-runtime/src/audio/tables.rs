//! What the host prepares: constants of a front end, and which of them are accepted.

/// The constants of a front end. All numbers and lengths are defined in `docs/integer-features.md`.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'t> {
    /// The first half of the window, 15 fraction bits; the second half mirrors it.
    pub window: &'t [i16],
    /// The same times the pre-emphasis: what the sample before is multiplied by.
    pub before: &'t [i16],
    /// Cosine and negative sine, in turn, of `2 pi k / fft` for `k` below `3 fft / 4`.
    pub turns: &'t [i16],
    /// The filters' edges, as points of the spectrum, ascending.
    pub edges: &'t [u16],
    /// For each filter what is taken off the logarithm, in nats with 16 fraction bits.
    pub offsets: &'t [i32],
    /// Rows of the cosine transform, or nothing for log-mel.
    pub cosines: &'t [i16],
    /// Samples of a window.
    pub len: u16,
    /// Samples from one window to the next.
    pub hop: u16,
    /// Points of the transform, a power of two.
    pub fft: u16,
    /// Fraction bits of the transform's input.
    pub fraction: u8,
    /// Bits that powers lose, so that sums of them fit 64 bits.
    pub drop: u8,
    /// The least count.
    pub floor: i16,
    /// Fraction bits of `cosines`.
    pub cosine_bits: u8,
}

/// Why tables are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablesError {
    /// A size outside its range, or not a power of two where it must be.
    Size {
        /// Of what.
        what: &'static str,
        /// The value.
        value: usize,
    },
    /// A table whose length does not follow from the sizes.
    Length {
        /// Which.
        what: &'static str,
        /// Entries given.
        found: usize,
        /// Entries needed.
        needed: usize,
    },
    /// Edges that do not ascend, or beyond the spectrum.
    Edges,
    /// Values with which a sum could leave its width.
    Overflow {
        /// Which sum.
        what: &'static str,
    },
}

impl core::fmt::Display for TablesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Size { what, value } => write!(f, "{what} cannot be {value}"),
            Self::Length { what, found, needed } => write!(f, "{what} has {found} entries, not {needed}"),
            Self::Edges => f.write_str("the filters' edges do not ascend within the spectrum"),
            Self::Overflow { what } => write!(f, "{what} could overflow"),
        }
    }
}

impl core::error::Error for TablesError {}

/// More than any count of a filter: 64 bits of a logarithm.
const MOST_COUNT: u64 = 11_400;

impl Tables<'_> {
    /// Mel filters.
    pub fn filters(&self) -> usize {
        self.offsets.len()
    }

    /// Values of a frame.
    pub fn dim(&self) -> usize {
        if self.cosines.is_empty() { self.filters() } else { self.cosines.len() / self.filters() }
    }

    /// Entries of the buffer of samples.
    pub fn samples_len(&self) -> usize {
        usize::from(self.len) + 1
    }

    /// Entries of the buffer of the spectrum.
    pub fn spectrum_len(&self) -> usize {
        usize::from(self.fft)
    }

    /// Entries of the buffer of a row: for MFCC the filters' counts stand before it.
    pub fn row_len(&self) -> usize {
        self.filters() + if self.cosines.is_empty() { 0 } else { self.dim() }
    }

    /// Bytes of all tables.
    pub fn bytes(&self) -> usize {
        2 * (self.window.len() + self.before.len() + self.turns.len() + self.edges.len() + self.cosines.len())
            + 4 * self.offsets.len()
    }

    /// Refuses tables that a frame could fail with.
    pub(super) fn check(&self) -> Result<(), TablesError> {
        self.check_sizes()?;
        self.check_transform()?;
        self.check_filters()
    }

    fn check_sizes(&self) -> Result<(), TablesError> {
        let size = |what, value: u16, good: bool| match good {
            true => Ok(()),
            false => Err(TablesError::Size { what, value: usize::from(value) }),
        };
        size("the transform", self.fft, self.fft.is_power_of_two() && (16..=4_096).contains(&self.fft))?;
        size("the window", self.len, (2..=self.fft).contains(&self.len))?;
        size("the hop", self.hop, (1..=self.len).contains(&self.hop))?;
        size("the fraction", u16::from(self.fraction), self.fraction < 15)?;
        size("the bits dropped", u16::from(self.drop), self.drop < 31)?;
        size("the cosines' bits", u16::from(self.cosine_bits), (1..=15).contains(&self.cosine_bits))?;
        let length = |what, found, needed| match found == needed {
            true => Ok(()),
            false => Err(TablesError::Length { what, found, needed }),
        };
        let half = usize::from(self.len).div_ceil(2);
        length("the window", self.window.len(), half)?;
        length("the window of the sample before", self.before.len(), half)?;
        length("the table of turns", self.turns.len(), usize::from(self.fft) / 4 * 6)?;
        length("the table of edges", self.edges.len(), self.filters() + 2)?;
        let rows = if self.filters() == 0 { 0 } else { self.cosines.len() / self.filters() };
        length("the table of cosines", self.cosines.len(), rows * self.filters())?;
        match self.filters() {
            0 => Err(TablesError::Size { what: "the number of filters", value: 0 }),
            _ => Ok(()),
        }
    }

    /// The largest input of each point, as its two factors in their units.
    fn factors(&self) -> impl Iterator<Item = u64> {
        let sum = |(w, b): (&i16, &i16)| u64::from(w.unsigned_abs()) + u64::from(b.unsigned_abs());
        self.window.iter().zip(self.before).map(sum)
    }

    fn check_transform(&self) -> Result<(), TablesError> {
        if self.factors().any(|sum| sum >= 1 << 16) {
            return Err(TablesError::Overflow { what: "a windowed sample" });
        }
        // Twice the sum of all inputs' sizes bounds every value; rounding and the table of turns
        // add less than a part in 2^12 and four for each point.
        let most = (2 * self.factors().sum::<u64>()) << self.fraction;
        let slack = (most >> 12) + 4 * u64::from(self.fft) + (1 << 16);
        if 2 * (most + slack) >= 1 << 31 {
            return Err(TablesError::Overflow { what: "the transform" });
        }
        let length = |turn: &[i16]| turn.iter().map(|&v| i64::from(v) * i64::from(v)).sum::<i64>();
        match self.turns.chunks_exact(2).all(|turn| length(turn) <= (1 << 30) + (1 << 16)) {
            true => Ok(()),
            false => Err(TablesError::Overflow { what: "a turn" }),
        }
    }

    fn check_filters(&self) -> Result<(), TablesError> {
        let ascend = self.edges.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || self.edges.last().is_none_or(|&last| last > self.fft / 2) {
            return Err(TablesError::Edges);
        }
        // By Parseval all powers together are fft/2 times the squares of the input, times 4 because
        // the spectrum comes doubled; a 64th more than covers rounding.
        let squares: u64 = self.factors().map(|sum| sum * sum).sum();
        let width = |i: usize| u64::from(self.edges[i + 1] - self.edges[i]);
        let widest = (0..self.filters()).map(|j| width(j) * width(j + 1)).max().unwrap_or(1);
        let weighted = squares * widest;
        let bits = u64::BITS - (weighted + (weighted >> 6)).leading_zeros();
        if bits + 2 * u32::from(self.fraction) + self.fft.ilog2() + 2 > 64 + u32::from(self.drop) {
            return Err(TablesError::Overflow { what: "the sum behind a filter" });
        }
        if self.offsets.iter().any(|offset| !(0..=64 * 45_426).contains(offset)) {
            return Err(TablesError::Overflow { what: "an offset" });
        }
        let row = |row: &[i16]| row.iter().map(|v| u64::from(v.unsigned_abs())).sum::<u64>();
        match self.cosines.chunks_exact(self.filters()).all(|r| row(r) * MOST_COUNT < (1 << 31) - (1 << 15)) {
            true => Ok(()),
            false => Err(TablesError::Overflow { what: "a coefficient" }),
        }
    }
}
