//! Random changes to training sequences that leave their label true.
//!
//! What acts on the physical signal (rotating a sensor, scaling its amplitude, moving an image)
//! happens in raw units before normalisation, where a rotation is a rotation; input noise is added
//! after it, where 0.1 means a tenth of a deviation. The caller hands in a generator keyed by seed,
//! epoch and sample, so the result depends on those alone. Nothing here allocates.
//!
//! ```
//! use fastgrnn_core::rng::Rng;
//! use fastgrnn_data::data::Augment;
//! let augment: Augment = toml::from_str("rotate = 0.3\naxes = \"0-2\"").unwrap();
//! let mut sequence = vec![3.0, 0.0, 4.0];
//! augment.before(&mut sequence, 3, &mut Rng::keyed(0, &[1, 2]));
//! let length = sequence.iter().map(|v| v * v).sum::<f32>().sqrt();
//! assert!((length - 5.0).abs() < 1e-5);
//! ```

use serde::{Deserialize, Serialize};

use super::{DataError, Sequences};
use fastgrnn_core::rng::Rng;

/// How to change training sequences; the default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Augment {
    /// Deviation, in radians, of the angle of one random rotation shared by all `axes`.
    pub rotate: f32,
    /// Deviation of the random amplitude factor of each of `axes` around 1.
    pub scale: f32,
    /// Which columns are the three axes of one sensor, written `"0-2,3-5"`.
    #[serde(with = "axes_text", skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<[usize; 3]>,
    /// Deviation of the noise added to every input, in normalised units.
    pub noise: f32,
    /// The most steps to move a sequence in time, either way.
    pub shift: usize,
    /// What fills the gap of a shift, such as digital silence; the step at the edge without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f32>,
    /// Keep a random contiguous part of at least this fraction of the steps; 0 keeps all.
    pub crop: f32,
    /// The most pixels to move an image, either way in both directions; 0 fills the gap.
    pub pixels: usize,
    /// Height and width of the image a sequence is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<(usize, usize)>,
}

impl Augment {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        !self.changes_raw() && self.noise == 0.0
    }

    /// Whether [`before`](Self::before) changes anything.
    pub fn changes_raw(&self) -> bool {
        self.rotate != 0.0
            || self.scale != 0.0
            || self.shift != 0
            || (self.crop > 0.0 && self.crop < 1.0)
            || self.pixels != 0
    }

    /// Checks the settings against the data they are meant for.
    pub fn check(&self, x: &Sequences) -> Result<(), DataError> {
        let wrong = |option: &str, problem: String| {
            Err(DataError::Setting { key: format!("augment {option}"), problem })
        };
        let deviations = [("rotate", self.rotate), ("scale", self.scale), ("noise", self.noise)];
        for (option, value) in deviations {
            if !value.is_finite() || value < 0.0 {
                return wrong(option, format!("{value} is not a deviation; use 0 or more"));
            }
        }
        if !(0.0..=1.0).contains(&self.crop) {
            return wrong("crop", format!("{} is not a fraction between 0 and 1", self.crop));
        }
        if let Some(column) = self.axes.iter().flatten().find(|&&column| column >= x.dim()) {
            return wrong("axes", format!("no column {column}: the data has {}", x.dim()));
        }
        if (self.rotate != 0.0 || self.scale != 0.0) && self.axes.is_empty() {
            return wrong("rotate", "name the three-axis sensors, such as `axes = 0-2,3-5`".into());
        }
        if self.pixels != 0 {
            let Some((height, width)) = self.image else {
                return wrong("pixel-shift", "shifts images, but this data set is not known to hold any; use it with IDX files, mnist or digits, or leave it out".into());
            };
            let pixels = height.checked_mul(width);
            if (0..x.len()).any(|i| Some(x.get(i).len()) != pixels) {
                let size = x.max_steps() * x.dim();
                return wrong("pixel-shift", format!("a {height} x {width} image is not {size} values"));
            }
        }
        Ok(())
    }

    /// The least number of steps that a sequence of so many may be left with.
    pub fn least_steps(&self, steps: usize) -> usize {
        if self.crop > 0.0 && self.crop < 1.0 { kept_steps(steps, self.crop) } else { steps }
    }

    /// Changes one sequence of `dim` features a step in raw units, before normalisation.
    ///
    /// A crop makes it shorter; nothing makes it longer.
    pub fn before(&self, raw: &mut Vec<f32>, dim: usize, rng: &mut Rng) {
        if self.pixels != 0
            && let Some((height, width)) = self.image
            && raw.len() == height * width
        {
            move_image(raw, width, offset(self.pixels, rng), offset(self.pixels, rng));
        }
        if self.rotate != 0.0 {
            rotate(raw, dim, &self.axes, &rotation(self.rotate, rng));
        }
        if self.scale != 0.0 {
            for axes in &self.axes {
                // A factor at or below 0 would be another signal, not a weaker one.
                let factor = (1.0 + self.scale * rng.normal() as f32).max(0.1);
                for step in raw.chunks_exact_mut(dim) {
                    axes.iter().for_each(|&a| step[a] *= factor);
                }
            }
        }
        if self.shift != 0 {
            shift_in_time(raw, dim, offset(self.shift, rng), self.gap);
        }
        if self.crop > 0.0 && self.crop < 1.0 {
            crop(raw, dim, self.crop, rng);
        }
    }

    /// Adds noise to one normalised sequence.
    pub fn after(&self, normalised: &mut [f32], rng: &mut Rng) {
        if self.noise != 0.0 {
            for values in normalised.chunks_mut(2) {
                let (first, second) = rng.normal_pair();
                for (value, draw) in values.iter_mut().zip([first, second]) {
                    *value += self.noise * draw as f32;
                }
            }
        }
    }
}

/// Reads axis triples such as `0-2,3-5`.
pub fn parse_axes(text: &str) -> Result<Vec<[usize; 3]>, DataError> {
    let triple = |part: &str| {
        let (first, last) = part.split_once('-')?;
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse::<usize>().ok()?);
        (usize::checked_add(first, 2)? == last).then_some([first, first + 1, last])
    };
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts
        .map(|part| {
            triple(part).ok_or_else(|| DataError::Setting {
                key: "axes".into(),
                problem: format!(
                    "'{part}' is not three neighbouring columns; write the first and the last, such as 0-2,3-5"
                ),
            })
        })
        .collect()
}

/// A uniform whole number from `-most` to `most`.
fn offset(most: usize, rng: &mut Rng) -> isize {
    let most = most.min(isize::MAX as usize / 2);
    rng.below(2 * most + 1) as isize - most as isize
}

/// A rotation about a random axis by an angle of deviation `deviation` (Rodrigues' formula).
fn rotation(deviation: f32, rng: &mut Rng) -> [[f32; 3]; 3] {
    let axis = [rng.normal(), rng.normal(), rng.normal()];
    let norm = axis.iter().map(|a| a * a).sum::<f64>().sqrt().max(1e-12);
    let [x, y, z] = axis.map(|a| a / norm);
    let (s, c) = (f64::from(deviation) * rng.normal()).sin_cos();
    let d = 1.0 - c;
    [
        [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
        [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
        [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
    ]
    .map(|row| row.map(|v| v as f32))
}

fn rotate(raw: &mut [f32], dim: usize, axes: &[[usize; 3]], r: &[[f32; 3]; 3]) {
    for step in raw.chunks_exact_mut(dim) {
        for axes in axes {
            let v = axes.map(|a| step[a]);
            for (row, &a) in r.iter().zip(axes) {
                step[a] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
            }
        }
    }
}

/// Moves the sequence by `by` steps (later if positive) and fills the gap, or repeats the edge step
/// in it.
fn shift_in_time(raw: &mut [f32], dim: usize, by: isize, fill: Option<f32>) {
    let steps = raw.len() / dim;
    if steps < 2 || by == 0 {
        return;
    }
    let gap = by.unsigned_abs().min(steps - 1) * dim;
    let end = steps * dim;
    if by > 0 {
        raw.copy_within(..end - gap, gap);
        if let Some(value) = fill {
            return raw[..gap].fill(value);
        }
        (dim..gap).step_by(dim).for_each(|at| raw.copy_within(..dim, at));
    } else {
        raw.copy_within(gap..end, 0);
        if let Some(value) = fill {
            return raw[end - gap..end].fill(value);
        }
        (end - gap..end).step_by(dim).for_each(|at| raw.copy_within(end - dim.., at));
    }
}

/// Keeps a random contiguous part of at least `fraction` of the steps.
fn crop(raw: &mut Vec<f32>, dim: usize, fraction: f32, rng: &mut Rng) {
    let steps = raw.len() / dim;
    let least = kept_steps(steps, fraction);
    if least >= steps {
        return;
    }
    let kept = least + rng.below(steps - least + 1);
    let start = rng.below(steps - kept + 1);
    raw.copy_within(start * dim..(start + kept) * dim, 0);
    raw.truncate(kept * dim);
}

/// The least number of steps that is at least `fraction` of them.
fn kept_steps(steps: usize, fraction: f32) -> usize {
    ((fraction * steps as f32).ceil() as usize).clamp(1, steps.max(1))
}

/// Moves a row-major image down by `down` and right by `right` pixels and fills the gap with 0.
fn move_image(image: &mut [f32], width: usize, down: isize, right: isize) {
    let height = image.len() / width.max(1);
    let (gap_down, gap_right) = (down.unsigned_abs(), right.unsigned_abs());
    if gap_down >= height || gap_right >= width {
        return image.fill(0.0);
    }
    let by = down * width as isize + right;
    let (gap, size) = (by.unsigned_abs(), image.len());
    if by >= 0 {
        image.copy_within(..size - gap, gap);
    } else {
        image.copy_within(gap.., 0);
    }
    // The flat move wrapped pixels from one row's end into the next row's start: clear them.
    for (y, row) in image.chunks_exact_mut(width).enumerate() {
        let uncovered = if down >= 0 { y < gap_down } else { y >= height - gap_down };
        match (uncovered, right >= 0) {
            (true, _) => row.fill(0.0),
            (false, true) => row[..gap_right].fill(0.0),
            (false, false) => row[width - gap_right..].fill(0.0),
        }
    }
}

/// Axis triples as text in configuration files.
mod axes_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(axes: &[[usize; 3]], to: S) -> Result<S::Ok, S::Error> {
        let parts: Vec<String> = axes.iter().map(|a| format!("{}-{}", a[0], a[2])).collect();
        to.serialize_str(&parts.join(","))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[usize; 3]>, D::Error> {
        super::parse_axes(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng() -> Rng {
        Rng::keyed(3, &[0, 1, 2])
    }

    fn two_sensors() -> Augment {
        Augment { axes: vec![[0, 1, 2], [3, 4, 5]], ..Augment::default() }
    }

    fn length(v: &[f32]) -> f32 {
        v.iter().map(|v| v * v).sum::<f32>().sqrt()
    }

    #[test]
    fn the_default_changes_nothing_and_draws_nothing() {
        let (mut raw, mut used) = (vec![1.0, 2.0, 3.0], rng());
        let nothing = Augment::default();
        nothing.before(&mut raw, 1, &mut used);
        nothing.after(&mut raw, &mut used);
        assert!(nothing.is_none());
        assert_eq!(raw, [1.0, 2.0, 3.0]);
        assert_eq!(used.next_u64(), rng().next_u64());
    }

    #[test]
    fn rotation_keeps_lengths_and_is_shared_by_all_sensors_and_steps() {
        let augment = Augment { rotate: 0.5, ..two_sensors() };
        let mut raw = vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, -2.0, 0.0, 1.0];
        augment.before(&mut raw, 6, &mut rng());
        assert!((length(&raw[..3]) - 14f32.sqrt()).abs() < 1e-5);
        assert!((length(&raw[9..]) - 5f32.sqrt()).abs() < 1e-5);
        assert_eq!(raw[..3], raw[3..6]);
        assert_eq!(raw[..3], raw[6..9]);
        assert!((raw[0] - 1.0).abs() > 1e-3);
    }

    #[test]
    fn rotation_angles_have_the_deviation_asked_for() {
        let n = 20_000;
        let mut sum = 0.0;
        for i in 0..n {
            let r = rotation(0.3, &mut Rng::keyed(1, &[i]));
            let cos = (f64::from(r[0][0] + r[1][1] + r[2][2]) - 1.0) / 2.0;
            sum += cos.clamp(-1.0, 1.0).acos().powi(2);
        }
        assert!(((sum / n as f64).sqrt() - 0.3).abs() < 0.005);
    }

    #[test]
    fn amplitude_scales_each_sensor_by_its_own_factor() {
        let augment = Augment { scale: 0.2, ..two_sensors() };
        let mut raw = vec![1.0; 12];
        augment.before(&mut raw, 6, &mut rng());
        assert!(raw[0] != 1.0 && raw[0] != raw[3]);
        assert_eq!(raw[..6], raw[6..]);
        assert_eq!([raw[0], raw[0]], [raw[1], raw[2]]);
    }

    #[test]
    fn amplitude_never_turns_a_signal_around() {
        let augment = Augment { scale: 5.0, ..two_sensors() };
        for i in 0..200 {
            let mut raw = vec![1.0; 6];
            augment.before(&mut raw, 6, &mut Rng::keyed(0, &[i]));
            assert!(raw.iter().all(|&v| v >= 0.1), "{raw:?}");
        }
    }

    #[test]
    fn time_shift_repeats_the_edge_step_and_never_wraps() {
        let shifted = |by| {
            let mut raw: Vec<f32> = vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
            shift_in_time(&mut raw, 2, by, None);
            raw
        };
        assert_eq!(shifted(1), [1.0, -1.0, 1.0, -1.0, 2.0, -2.0]);
        assert_eq!(shifted(-1), [2.0, -2.0, 3.0, -3.0, 3.0, -3.0]);
        assert_eq!(shifted(99), [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
        assert_eq!(shifted(-99), [3.0, -3.0, 3.0, -3.0, 3.0, -3.0]);
        assert_eq!(shifted(0), [1.0, -1.0, 2.0, -2.0, 3.0, -3.0]);
        for (by, expected) in [(1, [9.0, 9.0, 1.0, -1.0, 2.0, -2.0]), (-1, [2.0, -2.0, 3.0, -3.0, 9.0, 9.0])]
        {
            let mut raw: Vec<f32> = vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
            shift_in_time(&mut raw, 2, by, Some(9.0));
            assert_eq!(raw, expected);
        }
    }

    #[test]
    fn crop_keeps_a_contiguous_part_of_at_least_the_fraction() {
        let augment = Augment { crop: 0.5, ..Augment::default() };
        let mut lengths = std::collections::BTreeSet::new();
        for i in 0..200 {
            let mut raw: Vec<f32> = (0..20).map(|v| v as f32).collect();
            augment.before(&mut raw, 2, &mut Rng::keyed(0, &[i]));
            lengths.insert(raw.len() / 2);
            assert!(raw.windows(2).all(|w| w[1] == w[0] + 1.0));
            assert_eq!(raw[0] % 2.0, 0.0);
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), (5..=10).collect::<Vec<_>>());
    }

    #[test]
    fn images_move_as_a_whole_and_the_gap_is_background() {
        let moved = |down, right| {
            let mut image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            move_image(&mut image, 3, down, right);
            image
        };
        assert_eq!(moved(0, 0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(moved(1, 1), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(moved(1, -1), [0.0, 0.0, 0.0, 2.0, 3.0, 0.0]);
        assert_eq!(moved(-1, 0), [4.0, 5.0, 6.0, 0.0, 0.0, 0.0]);
        assert_eq!(moved(0, -2), [3.0, 0.0, 0.0, 6.0, 0.0, 0.0]);
        assert_eq!(moved(-1, 2), [0.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
        assert_eq!(moved(2, 0), [0.0; 6]);
        assert_eq!(moved(0, 3), [0.0; 6]);
    }

    #[test]
    fn noise_has_the_deviation_asked_for() {
        let mut values = vec![0.0; 100_000];
        Augment { noise: 0.1, ..Augment::default() }.after(&mut values, &mut rng());
        assert!((length(&values) / (values.len() as f32).sqrt() - 0.1).abs() < 1e-3);
    }

    #[test]
    fn the_same_key_gives_the_same_sequence() {
        let augment = Augment { rotate: 0.3, scale: 0.1, noise: 0.1, shift: 2, crop: 0.7, ..two_sensors() };
        let run = |key| {
            let (mut raw, mut rng) = ((0..60).map(|v| v as f32).collect(), Rng::keyed(1, &[key]));
            augment.before(&mut raw, 6, &mut rng);
            augment.after(&mut raw, &mut rng);
            raw
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn settings_that_do_not_fit_the_data_are_refused() {
        let mut x = Sequences::new(3);
        x.push(&[0.0; 12]);
        let problem = |augment: Augment| augment.check(&x).unwrap_err().to_string();
        assert!(problem(Augment { rotate: 0.1, ..two_sensors() }).contains("no column 3"));
        assert!(problem(Augment { scale: 0.1, ..Augment::default() }).contains("`axes = "));
        assert!(problem(Augment { crop: 1.5, ..Augment::default() }).contains("1.5"));
        assert!(problem(Augment { noise: -1.0, ..Augment::default() }).contains("-1"));
        assert!(problem(Augment { pixels: 1, ..Augment::default() }).contains("not known to hold any"));
        let wrong_size = Augment { pixels: 1, image: Some((5, 5)), ..Augment::default() };
        assert!(problem(wrong_size).contains("5 x 5"));
        let right = Augment { pixels: 1, image: Some((3, 4)), ..Augment::default() };
        assert!(right.check(&x).is_ok());
    }

    #[test]
    fn axes_are_read_and_written_as_text() {
        assert_eq!(parse_axes("0-2, 3-5").unwrap(), [[0, 1, 2], [3, 4, 5]]);
        for bad in ["0-1", "2", "x-2", "18446744073709551615-1"] {
            assert!(parse_axes(bad).unwrap_err().to_string().contains(bad));
        }
        let augment = Augment { rotate: 0.5, ..two_sensors() };
        let text = toml::to_string(&augment).unwrap();
        assert!(text.contains("axes = \"0-2,3-5\""), "{text}");
        assert_eq!(toml::from_str::<Augment>(&text).unwrap(), augment);
    }
}
