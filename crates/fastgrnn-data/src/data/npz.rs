//! NPZ, a zip of NPY arrays: `x_train, y_train, x_test, y_test`, or `x, y`, and optionally `group`.
//!
//! Keys are read in any case. Sequences of unequal length stand end to end in an `x` of shape
//! `[all steps, D]`, with their number of steps in `lengths`; `features` may name the D features,
//! `classes` the classes in their order (then `y` holds names or indices), and `recording` says which
//! recording a sequence was cut from: no split parts those of one.
//! A folder of `.npy` files with these names reads the same.

use std::collections::BTreeMap;

use super::array::Array;
use super::labels::canonical;
use super::part::Part;
use super::part::RawLabels;
use super::parts::Parts;
use super::{DataError, Sequences, npy};

/// Arrays by key, and what to call the whole in messages.
pub(crate) struct Arrays {
    pub file: String,
    pub arrays: BTreeMap<String, Vec<u8>>,
}

impl Arrays {
    /// The training and test parts among the arrays.
    pub fn parts(&self) -> Result<Parts, DataError> {
        let train = match self.part("_train")? {
            Some(part) => Some(part),
            None => self.part("")?,
        };
        let test = self.part("_test")?;
        if train.is_none() && test.is_none() {
            let keys: Vec<&str> = self.arrays.keys().map(String::as_str).collect();
            return Err(DataError::Unsupported {
                file: self.file.clone(),
                problem: format!(
                    "no array x_train, x or x_test in it; found: {}",
                    if keys.is_empty() { "nothing".into() } else { keys.join(", ") }
                ),
            });
        }
        Ok(Parts { train, test })
    }

    fn array(&self, key: &str) -> Result<Option<Array<'_>>, DataError> {
        let name = format!("{}: {key}", self.file);
        self.arrays.get(key).map(|bytes| npy::read(&name, bytes)).transpose()
    }

    fn part(&self, suffix: &str) -> Result<Option<Part>, DataError> {
        let Some(x) = self.array(&format!("x{suffix}"))? else { return Ok(None) };
        let x = match self.array(&format!("lengths{suffix}"))? {
            None => x.sequences()?,
            Some(lengths) => self.cut(&x, &lengths.numbers()?)?,
        };
        let y = match self.array(&format!("y{suffix}"))? {
            None => RawLabels::None,
            Some(y) => {
                self.check_rows("y", suffix, y.shape[..].first().copied(), x.len())?;
                if y.is_text() {
                    self.check_rows("y", suffix, Some(y.shape.iter().product()), x.len())?;
                    RawLabels::Text(y.text()?)
                } else {
                    let values = y.numbers()?;
                    RawLabels::Number { width: values.len() / x.len(), values }
                }
            }
        };
        let mut part = Part::new(format!("{}: x{suffix}", self.file), x, y);
        let mut group = self.array(&format!("group{suffix}"))?;
        if group.is_none() {
            group = self.array(&format!("groups{suffix}"))?;
        }
        if let Some(group) = group {
            self.check_rows("group", suffix, Some(group.shape.iter().product()), part.x.len())?;
            part.group = Some(names_in(&group)?);
        }
        if let Some(recording) = self.array(&format!("recording{suffix}"))? {
            self.check_rows("recording", suffix, Some(recording.shape.iter().product()), part.x.len())?;
            part.recording = Some(numbered(&names_in(&recording)?));
        }
        if let Some(classes) = self.array("classes")? {
            let classes: Vec<String> =
                names_in(&classes)?.iter().map(|name| canonical(name.trim())).collect();
            name_indices(&mut part, &classes);
            part.classes = Some(classes);
        }
        if let Some(features) = self.array("features")?
            && features.is_text()
            && features.shape == [part.x.dim()]
        {
            part.features = Some(features.text()?);
        }
        Ok(Some(part))
    }

    fn check_rows(
        &self,
        what: &str,
        suffix: &str,
        found: Option<usize>,
        expected: usize,
    ) -> Result<(), DataError> {
        if found == Some(expected) {
            return Ok(());
        }
        Err(DataError::Corrupt {
            file: self.file.clone(),
            place: format!("{what}{suffix}"),
            problem: format!("{} entries for the {expected} sequences of x{suffix}", found.unwrap_or(1)),
        })
    }

    /// Cuts `[all steps, D]` into sequences of the given lengths.
    fn cut(&self, x: &Array, lengths: &[f64]) -> Result<Sequences, DataError> {
        let wrong = |problem: String| DataError::Corrupt {
            file: self.file.clone(),
            place: "lengths".into(),
            problem,
        };
        let [steps, dim] = x.shape[..] else {
            return Err(wrong(format!("need an x of shape [all steps, features], not {:?}", x.shape)));
        };
        let values: Vec<f32> = x.numbers()?.into_iter().map(|v| v as f32).collect();
        let mut offsets = vec![0];
        let mut end = 0usize;
        for &length in lengths {
            if length.fract() != 0.0 || length < 1.0 || length > steps as f64 {
                return Err(wrong(format!("{length} is not a number of steps")));
            }
            end = end.saturating_add(length as usize);
            offsets.push(end);
        }
        if end != steps {
            return Err(wrong(format!("they add to {end}, but x has {steps} steps")));
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            let (row, feature) = (i / dim, i % dim);
            let sequence = offsets.partition_point(|&start| start <= row) - 1;
            let step = row - offsets[sequence];
            return Err(DataError::NotFinite {
                file: self.file.clone(),
                place: format!("sequence {sequence}, step {step}, feature {feature} (row {row} of x)"),
                value: values[i].to_string(),
            });
        }
        Ok(Sequences::cut(dim, values, offsets))
    }
}

/// The cells as names, whether they are text or numbers.
fn names_in(array: &Array) -> Result<Vec<String>, DataError> {
    match array.is_text() {
        true => array.text(),
        false => Ok(array.numbers()?.iter().map(f64::to_string).collect()),
    }
}

/// The same names as numbers, in order of first appearance.
fn numbered(names: &[String]) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let mut number_of = |name| {
        let next = numbers.len() as u32;
        *numbers.entry(name).or_insert(next)
    };
    names.iter().map(&mut number_of).collect()
}

/// Labels that are indices into `classes` become their names; labels that are names stay.
fn name_indices(part: &mut Part, classes: &[String]) {
    let RawLabels::Number { width: 1, values } = &part.y else { return };
    let is_name = |v: &f64| classes.contains(&canonical(&v.to_string()));
    let is_index = |v: &f64| v.fract() == 0.0 && (0.0..classes.len() as f64).contains(v);
    if !values.iter().all(is_name) && values.iter().all(is_index) {
        part.y = RawLabels::Text(values.iter().map(|&v| classes[v as usize].clone()).collect());
        part.notes.push(format!("{}: labels are indices into `classes`", part.file));
    }
}

/// Collects the arrays of an NPZ file.
pub(crate) fn read(file: &str, bytes: &[u8], limit: u64) -> Result<Parts, DataError> {
    if bytes.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "an NPZ file was expected".into() });
    }
    let mut tree = super::archive::Tree::from_zip(file, bytes, limit)?;
    let mut arrays = BTreeMap::new();
    for i in 0..tree.files.len() {
        let name = tree.files[i].name.to_lowercase();
        if let Some(key) = name.strip_suffix(".npy") {
            arrays.insert(key.to_string(), tree.read(i)?);
        }
    }
    Arrays { file: file.into(), arrays }.parts()
}
