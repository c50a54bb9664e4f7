//! `dsa19`: daily and sports activities, 125 steps of 45 signals from five body-worn units.
//!
//! The set has no split of its own; here subjects 1 to 4 train and 5 to 8 test. Part of the set is
//! read as well as all of it, with a note.

use std::path::Path;

use super::super::part::Part;
use super::super::part::RawLabels;
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences, archive};
use super::set::{Found, KnownSpec, sha256};
use super::text;

const COLUMNS: usize = 45;
const STEPS: usize = 125;
const SEGMENTS: usize = 9120;

const ACTIVITIES: [&str; 19] = [
    "sitting",
    "standing",
    "lying on the back",
    "lying on the right side",
    "ascending stairs",
    "descending stairs",
    "standing in an elevator",
    "moving around in an elevator",
    "walking in a parking lot",
    "walking on a flat treadmill",
    "walking on an inclined treadmill",
    "running on a treadmill",
    "exercising on a stepper",
    "exercising on a cross trainer",
    "cycling in horizontal position",
    "cycling in vertical position",
    "rowing",
    "jumping",
    "playing basketball",
];

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "dsa19",
    description: "daily and sports activities of 8 subjects, 45 signals at 25 Hz",
    licence: "CC BY 4.0 (UCI; Altun, Barshan, Tunçel)",
    sizes: [SEGMENTS / 2, SEGMENTS / 2, STEPS, COLUMNS, ACTIVITIES.len()],
    places: &[
        "dsa/daily_sports_activities_subset.tar.xz",
        "dsa/daily+and+sports+activities.zip",
        "dsa/data",
        "daily_sports_activities_subset.tar.xz",
        "daily+and+sports+activities.zip",
    ],
    marker: "a01",
    fetch: "'Daily and Sports Activities' from the UCI machine learning repository (doi 10.24432/C5C59F): all 9,120 segments as 'dsa/daily+and+sports+activities.zip', or unpacked as the folder 'dsa/data' (their checksum is not known here); or 'daily_sports_activities_subset.tar.xz', every fifth segment (1,824), packed from the repository faris0007/Daily-and-Sports-Activity-Detection at a224f057, where you have it,",
    checksums: &[(
        "daily_sports_activities_subset.tar.xz",
        "afde05829ce72bfc4450e8c6b1fa927aa65b4fe2635d57178fac8c4153cf390d",
    )],
    axes,
    group_split: true,
    count,
    read,
};

fn axes() -> Vec<[usize; 3]> {
    (0..COLUMNS / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()
}

fn features() -> Vec<String> {
    let units = ["torso", "right_arm", "left_arm", "right_leg", "left_leg"];
    let sensors = ["acc", "gyro", "mag"];
    let names = units.iter().flat_map(|unit| {
        sensors.iter().flat_map(move |s| ["x", "y", "z"].map(|axis| format!("{unit}_{s}_{axis}")))
    });
    names.collect()
}

/// Activity, subject and segment of a path that ends like `a01/p1/s01.txt`.
fn place(name: &str) -> Option<[usize; 3]> {
    let mut parts = name.strip_suffix(".txt")?.rsplit('/');
    let mut number = |letter| parts.next()?.strip_prefix(letter)?.parse::<usize>().ok();
    let (segment, subject, activity) = (number('s')?, number('p')?, number('a')?);
    Some([activity, subject, segment])
}

/// Training and test segments of the checksummed subset.
const SUBSET: [usize; 2] = [912, 912];

/// The segments by their names; the subset, which would have to be unpacked, by its checksum.
fn count(path: &Path) -> Option<[usize; 2]> {
    let (name, sum) = SPEC.checksums[0];
    if path.file_name().is_some_and(|file| file == name) && sha256(path).as_deref() == Some(sum) {
        return Some(SUBSET);
    }
    let mut counts = [0; 2];
    for name in archive::names(path).ok()? {
        if let Some([_, subject, _]) = place(&name) {
            counts[usize::from(subject > 4)] += 1;
        }
    }
    Some(counts)
}

fn read(path: &Path, request: &Request) -> Result<Found, DataError> {
    let wanted = |name: &str| place(name).is_some();
    let mut segments = text::parse_files(path, request.data.size_limit, &wanted, |name, bytes| {
        text::table(name, bytes, COLUMNS)
    })?;
    segments.sort_by_key(|(name, _)| place(name));
    let file = super::super::archive::file_name(path);
    if segments.is_empty() {
        let hint = "files such as a01/p1/s01.txt were expected".into();
        return Err(DataError::Empty { file, hint });
    }
    let mut notes = Vec::new();
    if segments.len() < SEGMENTS {
        notes.push(format!(
            "{file} holds {} of the {SEGMENTS} segments of dsa19: results are not those of the whole set",
            segments.len()
        ));
    }
    let mut sides = [(); 2].map(|()| (Sequences::new(COLUMNS), Vec::new(), Vec::new()));
    for (name, values) in &segments {
        let [activity, subject, _] = place(name).unwrap_or_default();
        let (Some(label), 1..=8) = (ACTIVITIES.get(activity.wrapping_sub(1)), subject) else {
            return Err(DataError::LabelOutOfRange {
                file,
                place: name.clone(),
                label: format!("a{activity:02}/p{subject}"),
                known: "a01 to a19 of p1 to p8".into(),
            });
        };
        if values.len() != STEPS * COLUMNS {
            let (expected, found) = (STEPS, values.len() / COLUMNS);
            return Err(DataError::Corrupt {
                file,
                place: name.clone(),
                problem: format!("{found} rows, expected {expected}"),
            });
        }
        let (x, labels, groups) = &mut sides[usize::from(subject > 4)];
        x.push(values);
        labels.push((*label).to_string());
        groups.push(subject.to_string());
    }
    let [train, test] = sides.map(|(x, labels, groups)| {
        let mut part = Part::new(file.clone(), x, RawLabels::Text(labels));
        part.classes = Some(ACTIVITIES.map(str::to_string).to_vec());
        part.group = Some(groups);
        part.features = Some(features());
        part
    });
    Ok(Found::new(Parts { train: Some(train), test: Some(test), ..Parts::default() }, notes))
}
