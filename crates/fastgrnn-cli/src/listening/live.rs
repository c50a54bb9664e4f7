//! A line at the bottom of the terminal: how loud it is, and how near to a detection.

use fastgrnn::stream::Listener;
use std::io::{Write, stderr};

/// Cells of a bar.
const CELLS: usize = 24;
/// The quietest level that is shown, in dB below full scale.
const QUIETEST: f64 = -60.0;
/// Redrawn after this many samples of sound: a tenth of a second at 16 kHz.
const EVERY: usize = 1_600;

/// The line, if there is a terminal for it.
pub struct View {
    shown: bool,
    on: bool,
    samples: usize,
    energy: f64,
}

impl View {
    pub fn new(on: bool) -> Self {
        Self { shown: false, on, samples: 0, energy: 0.0 }
    }

    /// Takes samples that were heard; redraws now and then.
    pub fn level(&mut self, samples: &[i16], listener: &Listener<'_>) {
        if !self.on {
            return;
        }
        self.samples += samples.len();
        self.energy += samples.iter().map(|&s| f64::from(s).powi(2)).sum::<f64>();
        if self.samples < EVERY {
            return;
        }
        let decibels = 10.0 * (self.energy / self.samples as f64 / 32_768_f64.powi(2)).log10();
        (self.samples, self.energy) = (0, 0.0);
        let loud = bar(1.0 - decibels.max(QUIETEST) / QUIETEST);
        let sure = f64::from(listener.confidence()) / 32_768.0;
        let seconds = listener.seconds(listener.frames()).unwrap_or_default();
        let line =
            format!("\r{seconds:7.1} s  level {loud} {decibels:5.0} dB  keyword {} {sure:.2} ", bar(sure));
        self.shown = stderr().write_all(line.as_bytes()).is_ok();
    }

    /// Makes room for a line of text.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = stderr().write_all(b"\r\x1b[2K");
        }
    }
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * CELLS as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_has_one_width() {
        for share in [-1.0, 0.0, 0.3, 1.0, 2.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(bar(share).chars().count(), 24, "{share}");
        }
        assert!(bar(0.5).starts_with("████████████░"));
    }
}
