//! Folders of recordings as data sets, and what is said about those that are none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::sound::{Wav, flac, sine};
use fastgrnn_data::data::{self, DataError, Dataset, Examples, Expect, Labels, Request};
use fastgrnn_data::features::{Spec, extract};

/// A folder that is gone with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> &Self {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    /// A clip of a second with a tone of its own.
    fn clip(&self, name: &str, hertz: f64) -> &Self {
        self.write(name, &tone(16_000, hertz, 16_000))
    }

    /// `n` clips each of two words, by different speakers.
    fn words(&self, words: &[&str], n: usize) -> &Self {
        for (w, word) in words.iter().enumerate() {
            for k in 0..n {
                self.clip(&format!("{word}/clip{k:03}.wav"), 300.0 + 400.0 * w as f64 + k as f64);
            }
        }
        self
    }

    /// A background recording of ten seconds.
    fn noise(&self, name: &str) -> &Self {
        self.write(name, &tone(16_000, 50.0, 160_000))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn request(&self) -> Request {
        Request::new(self.path().to_str().unwrap())
    }

    fn load(&self) -> Dataset {
        data::load(&self.request()).unwrap()
    }

    fn problem(&self) -> String {
        data::load(&self.request()).expect_err("it cannot be read").to_string()
    }
}

fn tone(rate: u32, hertz: f64, n: usize) -> Vec<u8> {
    Wav::pcm16(rate, 1, &sine(rate, hertz, 8_000.0, n)).bytes()
}

fn names(examples: &Examples) -> Vec<&str> {
    match &examples.y {
        Labels::Class { index, names } => index.iter().map(|&c| names[c as usize].as_str()).collect(),
        _ => panic!("no classes"),
    }
}

fn classes(data: &Dataset) -> &[String] {
    match &data.train.y {
        Labels::Class { names, .. } => names,
        _ => panic!("no classes"),
    }
}

fn counts(examples: &Examples) -> BTreeMap<&str, usize> {
    names(examples).into_iter().fold(BTreeMap::new(), |mut counts, name| {
        *counts.entry(name).or_default() += 1;
        counts
    })
}

fn ids(examples: &Examples) -> Vec<&str> {
    examples.ids.as_ref().unwrap().iter().map(String::as_str).collect()
}

#[test]
fn a_sub_folder_is_a_class_and_a_clip_99_frames() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 10);
    let data = folder.load();
    assert_eq!(classes(&data), ["no", "yes"]);
    assert_eq!((data.train.x.dim(), data.train.x.min_steps(), data.train.x.max_steps()), (32, 99, 99));
    assert_eq!(data.audio, Some(Spec::default()));
    let at = ids(&data.train).iter().position(|id| *id == "yes/clip003.wav").unwrap_or(0);
    assert_eq!(data.train.x.get(at).len(), 99 * 32);
    assert_eq!(counts(data.test.as_ref().unwrap()), BTreeMap::from([("no", 1), ("yes", 1)]));
    assert!(data.notes.iter().any(|note| note.contains("drawn at random")), "{:?}", data.notes);
    let validation = data.train.select(data.validation.as_ref().unwrap());
    assert_eq!(counts(&validation), BTreeMap::from([("no", 1), ("yes", 1)]));
    assert_eq!(data.train.len(), 18, "validation is part of what trains or validates");
}

#[test]
fn parts_are_the_same_after_training_as_in_it() {
    let (folder, other) = (Folder::new(), Folder::new());
    folder.words(&["yes", "no"], 20).noise("_background_noise_/hum.wav");
    other.words(&["yes", "no"], 3);
    let named = |data: &Dataset| -> BTreeSet<String> {
        let validation = data.train.select(data.validation.as_ref().unwrap());
        ids(&validation).iter().map(ToString::to_string).collect()
    };
    let expect = Expect { dim: 32, classes: vec!["no".into(), "yes".into()], ..Expect::default() };
    let later = |request: &Request| {
        data::load(&Request { expect: Some(expect.clone()), test: None, ..request.clone() }).unwrap()
    };
    let plain = folder.request().with_audio(|audio| audio.silence_share = Some(0.0));
    let copied = Request { audio_copies: 2, snr_low: 5.0, snr_high: 20.0, ..plain.clone() };
    assert_eq!(named(&data::load(&copied).unwrap()), named(&later(&copied)));
    let apart = Request { test: Some(other.path().into()), test_apart: true, ..plain };
    let (then, now) = (data::load(&apart).unwrap(), later(&apart));
    assert_eq!((named(&then), then.train.len()), (named(&now), now.train.len()));
    assert!(now.test.is_none(), "what was learnt from is never a test part");
}

#[test]
fn features_are_those_of_the_clip_padded_in_front() {
    let folder = Folder::new();
    folder.words(&["a", "b"], 2);
    let short = sine(16_000, 1_000.0, 5_000.0, 9_000);
    folder.write("b/short.wav", &Wav::pcm16(16_000, 1, &short).bytes());
    let wide: Vec<i32> = short.iter().map(|&s| s.into()).collect();
    folder.write("a/short.wav", &flac(16_000, 16, 1, &wide));
    let data = data::load(&Request { test: Some(folder.path().into()), ..folder.request() }).unwrap();
    let padded = [vec![0; 7_000], short].concat();
    for name in ["a/short.wav", "b/short.wav"] {
        let at = ids(&data.train).iter().position(|id| *id == name).unwrap();
        assert_eq!(data.train.x.get(at), extract(&Spec::default(), &padded), "{name}");
    }
}

#[test]
fn any_rate_and_any_channels_give_the_same_sound() {
    let folder = Folder::new();
    folder.words(&["a", "b"], 2);
    for (name, rate) in [("a/44.wav", 44_100), ("a/48.wav", 48_000), ("a/8.wav", 8_000), ("a/16.wav", 16_000)]
    {
        let mono = sine(rate, 1_000.0, 8_000.0, rate as usize);
        let stereo: Vec<i16> = mono.iter().flat_map(|&s| [s, s]).collect();
        folder.write(name, &Wav::pcm16(rate, 2, &stereo).bytes());
    }
    let data = data::load(&Request { test: Some(folder.path().into()), ..folder.request() }).unwrap();
    let of = |name: &str| {
        let at = ids(&data.train).iter().position(|id| *id == name).unwrap();
        data.train.x.get(at)[32 * 40..32 * 60].to_vec()
    };
    let expected = of("a/16.wav");
    for name in ["a/44.wav", "a/48.wav", "a/8.wav"] {
        let loud = of(name).into_iter().zip(&expected).filter(|(_, b)| **b > 10.0);
        let worst = loud.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 0.05, "{name} is off by {worst} nats");
    }
}

#[test]
fn of_a_long_recording_the_loudest_second_is_taken() {
    let folder = Folder::new();
    folder.words(&["a", "b"], 2);
    let word = sine(16_000, 700.0, 9_000.0, 16_000);
    folder.write(
        "a/long.wav",
        &Wav::pcm16(16_000, 1, &[vec![3; 20_000], word.clone(), vec![3; 9_000]].concat()).bytes(),
    );
    let data = data::load(&Request { test: Some(folder.path().into()), ..folder.request() }).unwrap();
    let at = ids(&data.train).iter().position(|id| *id == "a/long.wav").unwrap();
    let (found, expected) = (data.train.x.get(at), extract(&Spec::default(), &word));
    let loud = found.iter().zip(&expected).skip(64).filter(|(_, b)| **b > 12.0);
    let worst = loud.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.5, "{worst}");
    let two = data::load(&folder.request().with_audio(|audio| audio.clip_seconds = Some(2.0))).unwrap();
    assert_eq!(two.train.x.max_steps(), 199);
}

#[test]
fn a_bad_file_is_named_and_skip_bad_goes_on_with_a_list() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 6);
    folder.write("yes/broken.wav", &tone(16_000, 500.0, 16_000)[..1_000]);
    folder.write("no/text.flac", b"this is no sound");
    folder.noise("_background_noise_/hum.wav");
    let message = folder.problem();
    let is_named = message.contains("text.flac: this is a file that begins with")
        || message.contains("broken.wav: data chunk at byte 36: 32000 bytes are announced, 956 are there");
    assert!(is_named && message.contains("`skip-bad`"), "{message}");
    let data = data::load(&folder.request().with_data(|data| data.skip_bad = true)).unwrap();
    let clips = |examples: &Examples| names(examples).iter().filter(|name| **name != "silence").count();
    assert_eq!(clips(&data.train) + data.test.as_ref().map_or(0, clips), 12);
    let notes = data.notes.join("\n");
    assert!(notes.contains("left out 2 recordings that cannot be read"), "{notes}");
    assert!(notes.contains("broken.wav") && notes.contains("text.flac"), "{notes}");
    let labels = names(&data.train);
    for (id, name) in ids(&data.train).iter().zip(labels).filter(|(_, name)| *name != "silence") {
        assert!(id.starts_with(name));
    }
    folder.write("_background_noise_/text.wav", b"nor is this");
    let data = data::load(&folder.request().with_data(|data| data.skip_bad = true)).unwrap();
    assert!(data.notes.join("\n").contains("left out 3 recordings"), "{:?}", data.notes);
}

#[test]
fn a_folder_of_nothing_but_bad_files_is_refused() {
    let folder = Folder::new();
    folder.write("yes/a.wav", b"x").write("no/b.wav", b"y");
    let error = data::load(&folder.request().with_data(|data| data.skip_bad = true)).unwrap_err().to_string();
    assert!(error.contains("none of its 2 recordings can be read"), "{error}");
}

#[test]
fn folders_of_parts_are_the_parts() {
    for validation in ["val", "valid", "Validation"] {
        let folder = Folder::new();
        for (part, n) in [("train", 4), (validation, 2), ("test", 3)] {
            folder.words(&[&format!("{part}/yes"), &format!("{part}/no")], n);
        }
        folder.noise("_background_noise_/hum.wav");
        let data = data::load(&folder.request().with_audio(|audio| audio.silence_share = Some(0.5))).unwrap();
        assert_eq!(classes(&data), ["no", "yes", "silence"]);
        assert_eq!((data.train.len(), data.test.as_ref().unwrap().len()), (8 + 4 + 4 + 2, 6 + 3));
        let own = data.validation.unwrap();
        assert_eq!(own, (12..18).collect::<Vec<u32>>());
        assert!(own.iter().all(|&i| {
            let id = ids(&data.train)[i as usize];
            id.starts_with(validation) || id.starts_with('_')
        }));
    }
}

#[test]
fn lists_name_the_parts_whatever_the_ending() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 5);
    folder.write("testing_list.txt", b"yes/clip000.flac\nno/clip004.wav\r\n");
    folder.write("validation_list.txt", b"yes/clip001.wav\nno/clip003.wav\n");
    let data = folder.load();
    assert_eq!(ids(data.test.as_ref().unwrap()), ["no/clip004.wav", "yes/clip000.wav"]);
    let validation: Vec<&str> =
        data.validation.unwrap().iter().map(|&i| ids(&data.train)[i as usize]).collect();
    assert_eq!(validation, ["no/clip003.wav", "yes/clip001.wav"]);
    assert_eq!(data.train.len(), 8);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

#[test]
fn speakers_stay_whole_where_names_tell_them() {
    let folder = Folder::new();
    for speaker in 0..40 {
        for word in ["yes", "no"] {
            folder.write(&format!("{word}/{speaker:08x}_nohash_0.wav"), &tone(16_000, 400.0, 2_000));
        }
    }
    let data = folder.load();
    let speaker = |id: &str| id[id.find('/').unwrap() + 1..][..8].to_string();
    let test: Vec<String> = ids(data.test.as_ref().unwrap()).iter().map(|id| speaker(id)).collect();
    let own = data.validation.as_ref().unwrap();
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    for (i, id) in ids(&data.train).iter().enumerate() {
        let part = if own.contains(&(i as u32)) { &mut validation } else { &mut train };
        part.push(speaker(id));
    }
    assert!(!test.is_empty() && !validation.is_empty() && train.len() > 40);
    assert!(test.iter().chain(&validation).all(|speaker| !train.contains(speaker)));
    assert!(test.iter().all(|speaker| !validation.contains(speaker)));
    assert!(data.train.group.is_some());
}

#[test]
fn words_leave_the_others_to_unknown() {
    let folder = Folder::new();
    folder.words(&["yes", "no", "cat", "dog", "tree"], 10).noise("_background_noise_/hum.wav");
    let words = vec!["yes".to_string(), "no".to_string()];
    let request = Request { test: Some(folder.path().into()), ..folder.request() }
        .with_audio(|audio| audio.words = Some(words));
    let data = data::load(&request).unwrap();
    assert_eq!(classes(&data), ["yes", "no", "silence", "unknown"]);
    // Training and validation each have their own tenths.
    let expected = BTreeMap::from([("yes", 10), ("no", 10), ("silence", 3), ("unknown", 3)]);
    assert_eq!(counts(&data.train), expected);
    let expected = BTreeMap::from([("yes", 10), ("no", 10), ("silence", 2), ("unknown", 2)]);
    assert_eq!(counts(data.test.as_ref().unwrap()), expected);
    let more = request.clone().with_audio(|audio| {
        audio.unknown_share = Some(1.0);
        audio.silence_share = Some(0.0);
    });
    let data = data::load(&more).unwrap();
    assert_eq!(counts(&data.train), BTreeMap::from([("yes", 10), ("no", 10), ("unknown", 20)]));
    let wrong = request.with_audio(|audio| audio.words = Some(vec!["maybe".into()]));
    let message = data::load(&wrong).unwrap_err().to_string();
    assert!(message.contains("no class 'maybe'; classes: cat, dog, no, tree, yes"), "{message}");
}

#[test]
fn silence_comes_from_the_part_of_the_noise_that_is_its_own() {
    let folder = Folder::new();
    for part in ["train", "val", "test"] {
        folder.words(&[&format!("{part}/yes"), &format!("{part}/no")], 5);
    }
    // The noise is 50 Hz to train, silence to validate, 4 kHz to test.
    let hum = sine(16_000, 50.0, 8_000.0, 96_000);
    let hiss = sine(16_000, 4_000.0, 8_000.0, 32_000);
    folder.write(
        "_background_noise_/n.wav",
        &Wav::pcm16(16_000, 1, &[hum, vec![0; 32_000], hiss].concat()).bytes(),
    );
    let data = folder.load();
    let level = |examples: &Examples, i: usize, filter: usize| examples.x.get(i)[32 * 50 + filter];
    let silent = |examples: &Examples| -> Vec<usize> {
        names(examples).iter().enumerate().filter(|(_, name)| **name == "silence").map(|(i, _)| i).collect()
    };
    let own = data.validation.as_ref().unwrap();
    for i in silent(&data.train) {
        match own.contains(&(i as u32)) {
            true => assert_eq!(level(&data.train, i, 0), -2.0),
            false => assert!(level(&data.train, i, 0) > 10.0 && level(&data.train, i, 22) < 8.0),
        }
    }
    let test = data.test.as_ref().unwrap();
    assert!(silent(test).iter().all(|&i| level(test, i, 22) > 10.0));
    let background = data.background.unwrap();
    assert_eq!((background.len(), background.dim()), (1, 32));
    assert_eq!(background.steps(0), Spec::default().frames(96_000));
}

#[test]
fn a_test_folder_leaves_the_whole_folder_to_train() {
    let (folder, other) = (Folder::new(), Folder::new());
    folder.words(&["yes", "no"], 10);
    other.words(&["yes", "no"], 3);
    let data = data::load(&Request { test: Some(other.path().into()), ..folder.request() }).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (20, 6));
    other.words(&["maybe"], 1);
    let error = data::load(&Request { test: Some(other.path().into()), ..folder.request() }).unwrap_err();
    assert!(matches!(error, DataError::UnseenLabel { .. }), "{error}");
}

#[test]
fn windows_of_a_recording_stay_together() {
    let folder = Folder::new();
    for k in 0..6 {
        folder.write(&format!("hum/{k}.wav"), &tone(16_000, 60.0, 48_000));
        folder.write(&format!("beep/{k}.wav"), &tone(16_000, 900.0, 40_000));
    }
    folder.write("beep/short.wav", &tone(16_000, 900.0, 300));
    let request = Request { test: Some(folder.path().into()), ..folder.request() }.with_data(|data| {
        data.window = Some(50);
        data.stride = Some(25);
    });
    let data = data::load(&request).unwrap();
    assert_eq!((data.train.x.min_steps(), data.train.x.max_steps()), (50, 50));
    let per = |n: usize| (Spec::default().frames(n) - 50) / 25 + 1;
    assert_eq!(data.train.len(), 6 * per(48_000) + 6 * per(40_000) + 1);
    let recording = data.train.recording.as_ref().unwrap();
    assert_eq!(recording.iter().max(), Some(&12));
}

#[test]
fn copies_are_added_to_training_alone_and_are_the_same_every_time() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 10).noise("_background_noise_/hum.wav");
    let request = Request { audio_copies: 2, ..folder.request() };
    let (plain, copied) = (folder.load(), data::load(&request).unwrap());
    let own = copied.validation.as_ref().unwrap();
    let clips = counts(&copied.train)["yes"]
        - own.iter().filter(|&&i| names(&copied.train)[i as usize] == "yes").count();
    assert_eq!(clips, 8 * 3);
    assert_eq!(copied.test.as_ref().unwrap(), plain.test.as_ref().unwrap());
    let validation: Vec<&str> = own.iter().map(|&i| ids(&copied.train)[i as usize]).collect();
    let trained =
        (0..copied.train.len() as u32).filter(|i| !own.contains(i)).map(|i| ids(&copied.train)[i as usize]);
    assert!(trained.filter(|id| !id.starts_with('_')).all(|id| !validation.contains(&id)));
    assert_eq!(data::load(&request).unwrap().train, copied.train);
    let (first, second) = (copied.train.x.get(0), copied.train.x.get(18));
    assert_ne!(first, second);
}

#[test]
fn recordings_are_input_to_predict_on() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 2).clip("loose.wav", 500.0);
    let all = data::load_unlabelled(folder.path(), &folder.request()).unwrap();
    assert_eq!(
        all.ids,
        ["loose.wav", "no/clip000.wav", "no/clip001.wav", "yes/clip000.wav", "yes/clip001.wav"]
    );
    assert_eq!(all.x.max_steps(), 99);
    let one = data::load_unlabelled(&folder.path().join("loose.wav"), &folder.request()).unwrap();
    assert_eq!(one.ids, ["loose.wav"]);
    assert_eq!(one.x.get(0), all.x.get(0));
    let error = data::load(&Request::new(folder.path().join("loose.wav").to_str().unwrap())).unwrap_err();
    assert!(error.to_string().contains("one recording has no class"), "{error}");
}

#[test]
fn layouts_that_say_nothing_are_refused() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 3).clip("loose.wav", 500.0);
    assert!(folder.problem().contains("'loose.wav' lies in no folder"));
    let folder = Folder::new();
    folder.words(&["train/yes", "train/no", "extra/yes"], 3);
    assert!(folder.problem().contains("'extra' lies beside the folders train, val and test"));
    let folder = Folder::new();
    folder.words(&["yes", "no"], 3);
    std::fs::create_dir(folder.path().join("maybe")).unwrap();
    assert!(
        matches!(data::load(&folder.request()), Err(DataError::EmptyClass { class, .. }) if class == "maybe")
    );
    let folder = Folder::new();
    folder.words(&["yes"], 3);
    let error = data::load(&folder.request()).unwrap_err();
    assert!(matches!(error, DataError::OneClass { .. }) && !error.to_string().contains("column"), "{error}");
    let folder = Folder::new();
    folder.noise("_background_noise_/n.wav");
    assert!(folder.problem().contains("only background recordings"));
}

#[test]
fn noise_that_is_too_short_to_be_cut_is_named() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 4).clip("_background_noise_/n.wav", 50.0);
    assert!(folder.problem().contains("no WAV or FLAC recording of at least 5 seconds"));
}

#[test]
fn options_without_sense_are_refused() {
    let folder = Folder::new();
    folder.words(&["yes", "no"], 3);
    let problem = |request: Request| data::load(&request).expect_err("it has no sense").to_string();
    assert!(
        problem(folder.request().with_audio(|audio| audio.clip_seconds = Some(0.0)))
            .contains("`clip-seconds`: 0 s")
    );
    assert!(
        problem(folder.request().with_audio(|audio| audio.clip_seconds = Some(f64::NAN)))
            .contains("NaN s is no length")
    );
    assert!(
        problem(folder.request().with_audio(|audio| audio.unknown_share = Some(-1.0)))
            .contains("`unknown-share`: -1")
    );
    assert!(
        problem(folder.request().with_data(|data| data.label_col = Some("x".into()))).contains("label-col")
    );
    assert!(
        problem(folder.request().with_data(|data| data.size_limit = 1_000))
            .contains("1000 bytes (`size-limit`)")
    );
    let words = vec!["yes".to_string()];
    assert!(
        problem(Request::new("digits").with_audio(|audio| audio.words = Some(words))).contains("`words = ")
    );
}

#[test]
fn tables_beside_recordings_are_still_tables() {
    let folder = Folder::new();
    folder.write("up/a.csv", b"1,2\n3,4\n").write("down/a.csv", b"5,6\n7,8\n").clip("down/a.wav", 100.0);
    let data = folder.load();
    assert_eq!((data.train.x.dim(), data.train.len()), (2, 2));
}

/// Speech Commands' FLAC clips as if they were the whole set.
#[test]
fn known_speech_sets_are_read_from_audio() {
    let Some(recordings) = fastgrnn_testing::data::folder("speech_commands") else { return };
    let recordings = recordings.canonicalize().unwrap();
    let folder = Folder::new();
    let set: PathBuf = folder.path().join("speech_commands");
    std::fs::create_dir(&set).unwrap();
    for entry in std::fs::read_dir(recordings.join("flac")).unwrap().map(|entry| entry.unwrap().path()) {
        std::os::unix::fs::symlink(&entry, set.join(entry.file_name().unwrap())).unwrap();
    }
    for list in ["testing_list.txt", "validation_list.txt"] {
        std::fs::copy(recordings.join(list), set.join(list)).unwrap();
    }
    let request =
        |name: &str| Request::new(name).with_data(|data| data.data_dir = Some(folder.path().into()));
    let words = data::load(&request("google30")).unwrap();
    assert_eq!((words.train.len(), words.test.as_ref().unwrap().len()), (30 * 42, 30 * 8));
    assert_eq!((words.validation.unwrap().len(), words.train.classes()), (30 * 8, 30));
    let commands = data::load(&request("google12")).unwrap();
    assert_eq!((commands.train.len(), commands.train.classes()), (340 + 2 * 34 + 80 + 2 * 8, 12));
    let wake = data::load(&request("wakeword:marvin")).unwrap();
    assert_eq!(counts(wake.test.as_ref().unwrap()), BTreeMap::from([("marvin", 8), ("other", 232)]));
    // The folder by its path gives the same clips, and finds the lists beside it.
    let plain = data::load(&Request::new(recordings.join("flac").to_str().unwrap())).unwrap();
    assert_eq!(plain.test.as_ref().unwrap().len(), 30 * 8 + 24);
    // The archive holds the same features, rounded to half a nat.
    let archive = fastgrnn_data::data::speech::Archive::open(&recordings, 1 << 30).unwrap();
    let at: BTreeMap<&str, usize> =
        archive.clips().iter().enumerate().map(|(i, clip)| (clip.file.as_str(), i)).collect();
    for (i, id) in ids(&words.train).iter().enumerate() {
        let stored = archive.features(at[id.replace(".flac", ".wav").as_str()]);
        let off = words.train.x.get(i).iter().zip(&stored).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off <= 0.25 + 1e-3, "{id} is off by {off}");
    }
}

#[test]
fn words_and_speakers_of_recordings_come_from_their_names() {
    let folder = Folder::new();
    for (w, word) in ["no", "yes"].iter().enumerate() {
        for k in 0..12 {
            let name = format!("{k}_{word}_person{}.wav", k % 6);
            folder.clip(&name, 300.0 + 400.0 * w as f64 + f64::from(k));
        }
    }
    assert!(folder.problem().contains("`label-from`"), "{}", folder.problem());
    let request = folder.request().with_data(|d| {
        d.label_from = Some("_([a-z]+)_".into());
        d.group_from = Some("(person[0-9])".into());
    });
    let data = data::load(&request).unwrap();
    let Labels::Class { names, index } = &data.train.y else { panic!() };
    for (id, class) in data.train.ids.as_ref().unwrap().iter().zip(index) {
        assert!(id.contains(&format!("_{}_", names[*class as usize])), "{id}");
    }
    let people = |of: &Examples| -> BTreeSet<String> {
        of.ids.as_ref().unwrap().iter().map(|id| id[id.len() - 11..].to_string()).collect()
    };
    if let Some(test) = &data.test {
        assert!(people(test).is_disjoint(&people(&data.train)));
    }
}

#[test]
fn folders_of_speakers_and_words_are_told_apart_in_either_order() {
    for order in [["S01", "S02", "S03", "no", "yes"], ["no", "yes", "S01", "S02", "S03"]] {
        let folder = Folder::new();
        let is_speaker = |name: &&&str| name.starts_with('S');
        let speakers: Vec<&str> = order.iter().filter(is_speaker).copied().collect();
        for (s, speaker) in speakers.iter().enumerate() {
            for (w, word) in ["no", "yes"].iter().enumerate() {
                let outer_is_speaker = order[0].starts_with('S');
                let (outer, inner) = if outer_is_speaker { (speaker, word) } else { (word, speaker) };
                folder.clip(&format!("{outer}/{inner}/001.wav"), 300.0 + 100.0 * (2 * s + w) as f64);
            }
        }
        let data = folder.load();
        assert_eq!(classes(&data), ["no", "yes"]);
        assert!(
            data.notes.iter().any(|note| note.contains("those such as 'S01' as groups")),
            "{:?}",
            data.notes
        );
        let train: BTreeSet<&str> = ids(&data.train).iter().map(|id| speaker_of(id)).collect();
        for (id, class) in ids(&data.train).iter().zip(names(&data.train)) {
            assert!(id.split('/').any(|part| part == class), "{id} {class}");
        }
        for id in ids(data.test.as_ref().unwrap()) {
            assert!(!train.contains(speaker_of(id)), "{id} speaks on both sides");
        }
    }
}

fn speaker_of(id: &str) -> &str {
    id.split('/').find(|part| part.starts_with('S')).unwrap()
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_named_and_never_waited_for() {
    let folder = Folder::new();
    folder.words(&["no", "yes"], 4);
    for name in ["no/pipe.wav", "testing_list.txt"] {
        let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status();
        assert!(made.unwrap().success());
    }
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("yes/socket.wav")).unwrap();
    let data = folder.load();
    let note = data.notes.iter().find(|note| note.starts_with("not read:")).unwrap();
    assert!(note.contains("no/pipe.wav, yes/socket.wav"), "{note}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_text_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.words(&["no", "yes"], 3);
    let name = std::ffi::OsStr::from_bytes(b"no/caf\xe9.wav");
    std::fs::write(folder.path().join(name), tone(16_000, 500.0, 16_000)).unwrap();
    let problem = folder.problem();
    assert!(problem.contains("no/caf\u{fffd}.wav") && problem.contains("not valid UTF-8"), "{problem}");
}
