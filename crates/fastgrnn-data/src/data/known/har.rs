//! `har2` and `har6`: activities recorded by a smartphone at the waist, 128 steps of nine signals.
//!
//! Windows overlap by half, so validation should keep subjects whole. `har2` is the paper's task:
//! {sitting, laying, walking upstairs} against {standing, walking, walking downstairs}.

use std::collections::HashMap;
use std::path::Path;

use super::super::part::Part;
use super::super::part::RawLabels;
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences};
use super::set::{Found, KnownSpec};
use super::text;

const STEPS: usize = 128;

const SIGNALS: [&str; 9] = [
    "body_acc_x",
    "body_acc_y",
    "body_acc_z",
    "body_gyro_x",
    "body_gyro_y",
    "body_gyro_z",
    "total_acc_x",
    "total_acc_y",
    "total_acc_z",
];

const ACTIVITIES: [&str; 6] =
    ["walking", "walking upstairs", "walking downstairs", "sitting", "standing", "laying"];

/// The two classes of the paper, and which of them each activity belongs to.
const MERGED: [&str; 2] = ["sitting, laying or walking upstairs", "standing, walking or walking downstairs"];
const MERGED_OF: [usize; 6] = [1, 0, 1, 0, 1, 0];

const COMMON: KnownSpec = KnownSpec {
    name: "",
    description: "",
    licence: "UCI; cite Anguita et al. 2012; no commercial use",
    sizes: [7352, 2947, STEPS, 9, 2],
    places: &[
        "har/UCI_HAR_Dataset.tar.xz",
        "har/UCI HAR Dataset.zip",
        "har/UCI HAR Dataset",
        "UCI_HAR_Dataset.tar.xz",
        "UCI HAR Dataset.zip",
        "UCI HAR Dataset",
    ],
    marker: "train",
    fetch: "'Human Activity Recognition Using Smartphones' from the UCI machine learning repository (doi 10.24432/C54S4K): its 'UCI HAR Dataset.zip', or the folder in it, at har/ as it is (its checksum is not known here); or this project's repacked 'UCI_HAR_Dataset.tar.xz' of the same signals, labels and subjects, where you have it,",
    checksums: &[(
        "UCI_HAR_Dataset.tar.xz",
        "6952264de65522d14b0a91fc1899859df08b4ff8c95b00c865064a1c03353eba",
    )],
    axes,
    group_split: true,
    count: super::set::is_whole,
    read: read2,
};

pub(super) const HAR2: KnownSpec = KnownSpec {
    name: "har2",
    description: "smartphone activities in the paper's two classes, 9 signals at 50 Hz",
    ..COMMON
};

pub(super) const HAR6: KnownSpec = KnownSpec {
    name: "har6",
    description: "smartphone activities in six classes, 9 signals at 50 Hz",
    sizes: [7352, 2947, STEPS, 9, 6],
    read: read6,
    ..COMMON
};

fn axes() -> Vec<[usize; 3]> {
    vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]
}

fn read2(path: &Path, request: &Request) -> Result<Found, DataError> {
    read(path, request, &MERGED, |activity| MERGED_OF[activity])
}

fn read6(path: &Path, request: &Request) -> Result<Found, DataError> {
    read(path, request, &ACTIVITIES, |activity| activity)
}

/// The name of a file of the set without folders and ending, such as `body_acc_x_train`.
fn stem(name: &str) -> &str {
    let base = name.rsplit('/').next().unwrap_or(name);
    base.strip_suffix(".txt").unwrap_or("")
}

fn is_signal(stem: &str) -> bool {
    SIGNALS.iter().any(|signal| stem.starts_with(signal))
}

fn read(
    path: &Path,
    request: &Request,
    classes: &[&str],
    class_of: fn(usize) -> usize,
) -> Result<Found, DataError> {
    let wanted = |name: &str| {
        let stem = stem(name);
        is_signal(stem) || matches!(stem, "y_train" | "y_test" | "subject_train" | "subject_test")
    };
    let tables = text::parse_files(path, request.data.size_limit, &wanted, |name, bytes| {
        text::table(name, bytes, if is_signal(stem(name)) { STEPS } else { 1 })
    })?;
    let tables: HashMap<String, Vec<f32>> =
        tables.into_iter().map(|(name, table)| (stem(&name).to_string(), table)).collect();
    let file = super::super::archive::file_name(path);
    let part = |suffix: &str| part(&file, &tables, suffix, classes, class_of).map(Some);
    let parts = Parts { train: part("train")?, test: part("test")?, ..Parts::default() };
    Ok(Found::new(parts, Vec::new()))
}

fn part(
    file: &str,
    tables: &HashMap<String, Vec<f32>>,
    suffix: &str,
    classes: &[&str],
    class_of: fn(usize) -> usize,
) -> Result<Part, DataError> {
    let corrupt = |place: String, problem: String| DataError::Corrupt { file: file.into(), place, problem };
    let table = |name: &str| {
        let name = format!("{name}_{suffix}");
        tables.get(&name).ok_or_else(|| corrupt(format!("{name}.txt"), "the file is missing".into()))
    };
    let (labels, subjects) = (table("y")?, table("subject")?);
    let n = labels.len();
    let signals: Vec<&Vec<f32>> = SIGNALS.iter().map(|s| table(s)).collect::<Result<_, _>>()?;
    let rows = signals.iter().map(|signal| signal.len() / STEPS).chain([subjects.len()]);
    if let Some(found) = rows.into_iter().find(|&rows| rows != n) {
        let problem = format!("a file of {suffix} has {found} rows, y_{suffix}.txt has {n}");
        return Err(corrupt(suffix.into(), problem));
    }
    let mut x = Sequences::new(SIGNALS.len());
    let mut sequence = vec![0.0; STEPS * SIGNALS.len()];
    let mut names = Vec::with_capacity(n);
    for (i, &label) in labels.iter().enumerate() {
        for (s, signal) in signals.iter().enumerate() {
            for (t, &value) in signal[i * STEPS..(i + 1) * STEPS].iter().enumerate() {
                sequence[t * SIGNALS.len() + s] = value;
            }
        }
        x.push(&sequence);
        if label.fract() != 0.0 || !(1.0..=6.0).contains(&label) {
            return Err(DataError::LabelOutOfRange {
                file: file.into(),
                place: format!("y_{suffix}.txt, line {}", i + 1),
                label: label.to_string(),
                known: "1 to 6".into(),
            });
        }
        names.push(classes[class_of(label as usize - 1)].to_string());
    }
    let mut part = Part::new(format!("{file}: {suffix}"), x, RawLabels::Text(names));
    part.classes = Some(classes.iter().map(|class| (*class).to_string()).collect());
    part.group = Some(subjects.iter().map(f32::to_string).collect());
    part.features = Some(SIGNALS.iter().map(|signal| (*signal).to_string()).collect());
    Ok(part)
}
