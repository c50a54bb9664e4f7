//! NPZ, a zip of NPY arrays: `x_train, y_train, x_val, y_val, x_test, y_test`, or `x, y`, and
//! optionally `group`.
//!
//! Keys are read in any case. Sequences of unequal length stand end to end in an `x` of shape
//! `[all steps, D]`, with their number of steps in `lengths`; `features` may name the D features,
//! `classes` the classes in their order (then `y` holds names or indices), and `recording` says which
//! recording a sequence was cut from: no split parts those of one.
//! A folder of `.npy` files with these names reads the same. Arrays that are not read are named in a
//! note.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::array::Array;
use super::labels::find_class;
use super::missing;
use super::names::{listed, number_text, numbered};
use super::part::Part;
use super::part::RawLabels;
use super::parts::Parts;
use super::{DataError, Missing, Sequences, npy};
use fastgrnn_core::format::quantity;

/// What may follow the name of an array of the validation part.
const VALIDATION: [&str; 3] = ["_val", "_valid", "_validation"];

/// Names of the array with the group of each sequence.
const GROUPS: [&str; 5] = ["group", "groups", "subject", "subjects", "subject_id"];

/// Arrays by key, and what to call the whole in messages.
pub(crate) struct Arrays {
    file: String,
    arrays: BTreeMap<String, Vec<u8>>,
    missing: Missing,
    /// The keys that were looked at.
    read: RefCell<BTreeSet<String>>,
}

impl Arrays {
    pub fn new(file: &str, arrays: BTreeMap<String, Vec<u8>>, missing: Missing) -> Self {
        Self { file: file.into(), arrays, missing, read: RefCell::default() }
    }

    /// The training, validation and test parts among the arrays.
    pub fn parts(&self) -> Result<Parts, DataError> {
        let train = match self.part("_train")? {
            Some(part) => Some(part),
            None => self.part("")?,
        };
        let mut validation = None;
        for suffix in VALIDATION {
            if validation.is_none() {
                validation = self.part(suffix)?;
            }
        }
        let test = self.part("_test")?;
        if train.is_none() && test.is_none() {
            return Err(DataError::Unsupported { file: self.file.clone(), problem: self.no_arrays() });
        }
        let mut parts = Parts { train, validation, test };
        let read = self.read.borrow();
        let unread: Vec<String> = self.arrays.keys().filter(|key| !read.contains(*key)).cloned().collect();
        if !unread.is_empty() {
            parts.note(format!("arrays that were not read: {}", listed(&unread)));
        }
        Ok(parts)
    }

    /// What to say about arrays of other names: what is there, and how to rename it.
    fn no_arrays(&self) -> String {
        let keys: Vec<String> = self.arrays.keys().cloned().collect();
        let found = if keys.is_empty() { "nothing".into() } else { listed(&keys) };
        let mut problem = format!("no array x_train, x or x_test in it; found: {found}");
        // The inputs are probably the largest array, the labels one with as many entries.
        let shapes = self
            .arrays
            .iter()
            .filter_map(|(key, bytes)| Some((key.as_str(), npy::read(key, bytes).ok()?.shape)));
        let shapes: Vec<(&str, Vec<usize>)> = shapes.collect();
        let cells = |shape: &[usize]| shape.iter().fold(1usize, |cells, &side| cells.saturating_mul(side));
        let inputs = shapes.iter().max_by_key(|(_, shape)| cells(shape)).filter(|(_, shape)| shape.len() > 1);
        let labels = inputs.and_then(|(x, of_x)| {
            shapes.iter().find(|(key, shape)| key != x && shape.len() < of_x.len() && shape[..1] == of_x[..1])
        });
        if let (Some((x, _)), Some((y, _))) = (inputs, labels)
            && self.file.ends_with(".npz")
        {
            problem += &format!(
                "; rename them with Python: import numpy as np; a = np.load({:?}); np.savez('renamed.npz', x=a[{x:?}], y=a[{y:?}])",
                self.file
            );
        }
        problem
    }

    fn array(&self, key: &str) -> Result<Option<Array<'_>>, DataError> {
        self.read.borrow_mut().insert(key.into());
        let name = format!("{}: {key}", self.file);
        self.arrays.get(key).map(|bytes| npy::read(&name, bytes)).transpose()
    }

    fn part(&self, suffix: &str) -> Result<Option<Part>, DataError> {
        let Some(x) = self.array(&format!("x{suffix}"))? else { return Ok(None) };
        let (x, filled) = match self.array(&format!("lengths{suffix}"))? {
            None => x.filled_sequences(self.missing)?,
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
        part.labels_in = Some(format!("{}: y{suffix}", self.file));
        let counts = BTreeMap::from([(format!("x{suffix}"), filled)]);
        part.notes.extend(missing::note(&counts, self.missing));
        for name in GROUPS {
            if let (None, Some(group)) = (&part.group, self.array(&format!("{name}{suffix}"))?) {
                self.check_rows(name, suffix, Some(group.shape.iter().product()), part.x.len())?;
                part.group = Some(names_in(&group)?);
                if name != GROUPS[0] && name != GROUPS[1] {
                    part.notes.push(format!("the array '{name}{suffix}' was taken as the group"));
                }
            }
        }
        if let Some(recording) = self.array(&format!("recording{suffix}"))? {
            self.check_rows("recording", suffix, Some(recording.shape.iter().product()), part.x.len())?;
            part.recording = Some(numbered(&names_in(&recording)?));
        }
        if let Some(classes) = self.array("classes")? {
            let classes: Vec<String> =
                names_in(&classes)?.iter().map(|name| name.trim().to_string()).collect();
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
            problem: format!(
                "{} for the {} of x{suffix}",
                quantity(found.unwrap_or(1) as u64, "entry"),
                quantity(expected as u64, "sequence")
            ),
        })
    }

    /// Cuts `[all steps, D]` into sequences of the given lengths.
    fn cut(&self, x: &Array, lengths: &[f64]) -> Result<(Sequences, usize), DataError> {
        let wrong = |problem: String| DataError::Corrupt {
            file: self.file.clone(),
            place: "lengths".into(),
            problem,
        };
        let [steps, dim] = x.shape[..] else {
            return Err(wrong(format!("need an x of shape [all steps, features], not {:?}", x.shape)));
        };
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
        let starts = offsets.clone();
        x.filled(dim, offsets, self.missing, &|sequence, step, feature| {
            let row = starts[sequence] + step;
            format!("sequence {sequence}, step {step}, feature {feature} (row {row} of x)")
        })
    }
}

/// The cells as names, whether they are text or numbers.
fn names_in(array: &Array) -> Result<Vec<String>, DataError> {
    match array.is_text() {
        true => array.text(),
        false => Ok(array.numbers()?.into_iter().map(number_text).collect()),
    }
}

/// Labels that are indices into `classes` become their names; labels that are names stay.
fn name_indices(part: &mut Part, classes: &[String]) {
    let RawLabels::Number { width: 1, values } = &part.y else { return };
    let is_name = |v: &f64| find_class(&number_text(*v), classes).is_some();
    let is_index = |v: &f64| v.fract() == 0.0 && (0.0..classes.len() as f64).contains(v);
    if !values.iter().all(is_name) && values.iter().all(is_index) {
        part.y = RawLabels::Text(values.iter().map(|&v| classes[v as usize].clone()).collect());
        part.notes.push(format!("{}: labels are indices into `classes`", part.file));
    }
}

/// Collects the arrays of an NPZ file.
pub(crate) fn read(file: &str, bytes: &[u8], limit: u64, missing: Missing) -> Result<Parts, DataError> {
    if bytes.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "an NPZ file was expected".into() });
    }
    let mut tree = super::archive::Tree::from_zip(file, bytes, limit)?;
    let (mut arrays, mut others) = (BTreeMap::new(), Vec::new());
    for i in 0..tree.files.len() {
        let name = tree.files[i].name.to_lowercase();
        match name.strip_suffix(".npy") {
            Some(key) => {
                arrays.insert(key.to_string(), tree.read(i)?);
            }
            None => others.push(tree.files[i].name.clone()),
        }
    }
    let mut parts = Arrays::new(file, arrays, missing).parts()?;
    if !others.is_empty() {
        parts.note(format!("not read: {}", listed(&others)));
    }
    Ok(parts)
}
