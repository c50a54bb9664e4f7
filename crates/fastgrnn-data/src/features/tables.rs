//! The constants of the integer front end, computed from a spec. `docs/integer-features.md`,
//! section "Tables", defines each number.

use super::dct;
use super::spec::{Kind, Spec};
use fastgrnn_runtime::audio;
use std::f64::consts::PI;

/// One, in a table of 16-bit numbers.
const ONE: f64 = 32_768.0;

/// The tables of a spec, as the host holds them.
///
/// ```
/// use fastgrnn_data::features::{Spec, Tables};
/// let tables = Tables::new(&Spec::default());
/// assert_eq!(tables.bytes(), 2_532);
/// assert_eq!(tables.view().spectrum_len(), 512);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    window: Vec<i16>,
    before: Vec<i16>,
    turns: Vec<i16>,
    edges: Vec<u16>,
    offsets: Vec<i32>,
    cosines: Vec<i16>,
    len: u16,
    hop: u16,
    fft: u16,
    fraction: u8,
    drop: u8,
    floor: i16,
    cosine_bits: u8,
}

impl Tables {
    /// The tables of a spec.
    pub fn new(spec: &Spec) -> Self {
        let fft = spec.fft();
        let half = super::front::hamming(spec).take(spec.window().div_ceil(2));
        let (window, before) =
            half.map(|w| (fixed(w, ONE), fixed(w * spec.pre_emphasis(), ONE))).collect::<(Vec<_>, Vec<_>)>();
        let turn = |k: usize| {
            let (sin, cos) = (2.0 * PI * k as f64 / fft as f64).sin_cos();
            [fixed(cos, ONE), fixed(-sin, ONE)]
        };
        let edges = spec.edges();
        let factors = || window.iter().zip(&before).map(|(&w, &b)| w as u64 + b as u64);
        let fraction = fraction(2 * factors().sum::<u64>(), fft as u64);
        let width = |i: usize| (edges[i + 1] - edges[i]) as u64;
        let widths = || (0..spec.filters()).map(|j| width(j) * width(j + 1));
        let squares: u64 = factors().map(|sum| sum * sum).sum();
        let drop = drop(squares * widths().max().unwrap_or(1), fraction, fft);
        let unit = fft as f64 * f64::from(2 * (fraction as i32 + 1) - drop as i32).exp2();
        let offset = |width: u64| ((width as f64 * unit).ln() * 65_536.0).round() as i32;
        let cosine_bits = if spec.filters() <= 32 { 15 } else { 14 };
        let cosines = match spec.kind() {
            Kind::LogMel => Vec::new(),
            Kind::Mfcc => dct::matrix(spec.dim(), spec.filters()),
        };
        Self {
            turns: (0..fft / 4 * 3).flat_map(turn).collect(),
            offsets: widths().map(offset).collect(),
            cosines: cosines.into_iter().map(|c| fixed(c, f64::from(cosine_bits).exp2())).collect(),
            edges: edges.iter().map(|&edge| edge as u16).collect(),
            len: spec.window() as u16,
            hop: spec.hop() as u16,
            fft: fft as u16,
            fraction: fraction as u8,
            drop: drop as u8,
            floor: (spec.floor() * 256.0).round() as i16,
            cosine_bits: cosine_bits as u8,
            window,
            before,
        }
    }

    /// The tables as the runtime takes them.
    pub fn view(&self) -> audio::Tables<'_> {
        audio::Tables {
            window: &self.window,
            before: &self.before,
            turns: &self.turns,
            edges: &self.edges,
            offsets: &self.offsets,
            cosines: &self.cosines,
            len: self.len,
            hop: self.hop,
            fft: self.fft,
            fraction: self.fraction,
            drop: self.drop,
            floor: self.floor,
            cosine_bits: self.cosine_bits,
        }
    }

    /// The front end over these tables.
    pub fn front(&self) -> audio::Front<'_> {
        audio::Front::new(self.view()).expect("tables of a spec are accepted")
    }

    /// Bytes in a device's flash.
    pub fn bytes(&self) -> usize {
        self.view().bytes()
    }
}

/// A number in a unit of `1 / one`; 1 itself, which 16 bits cannot hold, becomes the number below.
fn fixed(value: f64, one: f64) -> i16 {
    (value * one).round().clamp(-32_768.0, 32_767.0) as i16
}

/// The most fraction bits with which the transform cannot overflow.
fn fraction(sum: u64, fft: u64) -> u32 {
    let fits = |fraction: u32| {
        let most = sum << fraction;
        2 * (most + (most >> 12) + 4 * fft + (1 << 16)) < 1 << 31
    };
    (0..15).take_while(|&fraction| fits(fraction)).last().unwrap_or(0)
}

/// The fewest bits to drop so that the sum behind a filter fits 64.
fn drop(weighted: u64, fraction: u32, fft: usize) -> u32 {
    let bits = u64::BITS - (weighted + (weighted >> 6)).leading_zeros();
    (bits + 2 * fraction + fft.ilog2() + 2).saturating_sub(64)
}
