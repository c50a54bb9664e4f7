//! Axes: ranges that hold the data, and ticks a person would have chosen.

/// A linear or logarithmic map from values to pixels, with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over `low..=high` with about `wanted` round ticks; the range grows to whole ticks
    /// when `grow` is set.
    pub(super) fn linear(low: f64, high: f64, wanted: usize, grow: bool) -> Self {
        let (mut low, mut high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        let step = round_step((high - low) / wanted.max(1) as f64);
        if grow {
            (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        }
        let decimals = decimals(step);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|i| {
            let value = i as f64 * step;
            (value, format!("{value:.decimals$}"))
        });
        Self { low, high, log: false, ticks: ticks.collect() }
    }

    /// The same for whole numbers such as epochs.
    pub(super) fn whole(low: f64, high: f64, wanted: usize) -> Self {
        let wanted = wanted.min((high - low).max(1.0) as usize);
        let mut axis = Self::linear(low, high, wanted, false);
        axis.ticks.retain(|(v, _)| (v - v.round()).abs() < 1e-9);
        axis
    }

    /// A logarithmic axis; `low` must be above 0.
    pub(super) fn log(low: f64, high: f64) -> Self {
        let first = low.log10().floor() as i32;
        let last = (high.log10().ceil() as i32).max(first + 1);
        let every = ((last - first) / 7 + 1) as usize;
        let ticks = (first..=last).step_by(every).map(|e| {
            let text = if (-3..=4).contains(&e) { format!("{}", 10f64.powi(e)) } else { format!("1e{e}") };
            (10f64.powi(e), text)
        });
        let ticks = ticks.collect();
        Self { low: 10f64.powi(first), high: 10f64.powi(last), log: true, ticks }
    }

    /// The same without growing to whole decades; ticks are at 1, 2 and 5 of each decade where there are few.
    pub(super) fn log_within(low: f64, high: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, low * 2.0) };
        let whole = Self::log(low, high);
        let is_inside = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let units: &[f64] = if (high / low).log10() < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let values = decades.flat_map(|e| units.iter().map(move |unit| unit * 10f64.powi(e)));
        let text = |value: f64| match (1e-3..1e5).contains(&value) {
            true => format!("{}", (value * 1e6).round() / 1e6),
            false => format!("{value:.0e}"),
        };
        let few: Vec<(f64, String)> = values.filter(|v| is_inside(*v)).map(|v| (v, text(v))).collect();
        let of_whole = whole.ticks.into_iter().filter(|(value, _)| is_inside(*value));
        let ticks = if few.len() <= 9 { few } else { of_whole.collect() };
        Self { low, high, log: true, ticks }
    }

    /// Where `value` lies between 0 (low end) and 1, held inside.
    pub(super) fn place(&self, value: f64) -> f64 {
        let map = |v: f64| if self.log { v.max(self.low).log10() } else { v };
        let (low, high) = (map(self.low), map(self.high));
        ((map(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// The smallest of 1, 2, 2.5, 5 × 10ⁿ that is at least `raw`.
fn round_step(raw: f64) -> f64 {
    let scale = 10f64.powf(raw.log10().floor());
    let unit = raw / scale;
    let nice = [1.0, 2.0, 2.5, 5.0].into_iter().find(|n| unit <= n + 1e-9).unwrap_or(10.0);
    nice * scale
}

/// Decimals that show a whole number of steps exactly: a step of 0.25 needs two.
fn decimals(step: f64) -> usize {
    let shows = |d: &usize| {
        let scaled = step * 10f64.powi(*d as i32);
        scaled.round() >= 1.0 && (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..9).find(shows).unwrap_or(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, t)| t.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(labels(&Axis::linear(0.0, 1.0, 5, true)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::whole(1.0, 10.0, 6)), ["2", "4", "6", "8", "10"]);
        assert_eq!(labels(&Axis::log(0.02, 3.0)), ["0.01", "0.1", "1", "10"]);
    }

    #[test]
    fn a_logarithmic_axis_may_end_between_decades() {
        let axis = Axis::log_within(0.0005, 0.32);
        assert_eq!(labels(&axis), ["5e-4", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2"]);
        assert!(axis.place(0.0005) < 1e-9 && axis.place(0.32) > 1.0 - 1e-9);
        assert_eq!(labels(&Axis::log_within(1.0, 1_000_000.0)).first(), Some(&"1"));
        assert!(Axis::log_within(3.0, 3.0).place(3.0).is_finite());
    }

    #[test]
    fn one_value_still_makes_an_axis() {
        let axis = Axis::linear(2.0, 2.0, 5, true);
        assert!((axis.place(2.0) - 0.5).abs() < 1e-9);
        assert_eq!(labels(&Axis::whole(1.0, 1.0, 6)), ["1"]);
    }

    #[test]
    fn quarter_steps_show_the_decimals_they_need() {
        let labels_of = |low, high| -> Vec<String> {
            Axis::linear(low, high, 4, true).ticks.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(labels_of(0.0, 1.0), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels_of(0.0, 10.0), ["0.0", "2.5", "5.0", "7.5", "10.0"]);
        assert_eq!(labels_of(0.0, 0.1), ["0.000", "0.025", "0.050", "0.075", "0.100"]);
        assert_eq!(labels_of(0.0, 100.0), ["0", "25", "50", "75", "100"]);
    }
}
