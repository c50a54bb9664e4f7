//! What an export refuses, what it promises about sizes, and how it treats a folder.

use crate::models::{awkward, model, small, variety};
use crate::written::{file, packed, text, written};
use fastgrnn::cells::{Cell, CellKind};
use fastgrnn_export::{ExportError, Golden, MOST_BYTES, Optimize, PackageOptions, Target, Windows, package};
use std::path::Path;
use std::process::Command;

#[test]
fn golden_vectors_fit_a_small_board_whatever_the_network() {
    for (features, outputs, windows) in
        [(1, 2, 4), (32, 12, 4), (500, 3, 4), (9, 6, 1), (9, 6, 100), (60, 6, 100)]
    {
        let model = model(vec![Cell::new(CellKind::Rnn, features, 4)], outputs, 0.3, 5);
        let golden = Golden::integer(&model, &Windows::random(&model, windows, 1)).unwrap();
        assert!(golden.bytes() <= MOST_BYTES, "{features} features: {} bytes", golden.bytes());
        assert!(!golden.windows.is_empty() && golden.windows.len() <= windows);
        assert!(golden.windows.iter().all(|w| w.counts.len() % features == 0));
        let frames: Vec<usize> = golden.windows.iter().map(|w| w.counts.len() / features).collect();
        assert!(frames.iter().all(|&n| n >= 2), "{features} features: {frames:?} frames");
        assert!(
            frames.len() == 1 || frames.iter().all(|&n| n >= 16),
            "{features} features: {frames:?} frames"
        );
        let limits = |w: &[i16]| w.iter().take(3 * features).any(|c| [i16::MIN, i16::MAX].contains(c));
        assert!(golden.windows.iter().all(|w| limits(&w.counts)), "{features} features: no limits");
    }
}

#[test]
fn windows_that_are_none_are_refused() {
    let model = small();
    let windows = |counts: Vec<Vec<i16>>| Windows { counts, origin: "a test".into() };
    let make =
        |w: Windows| package(&model, Target::C, &PackageOptions { windows: Some(w), ..Default::default() });
    assert!(matches!(make(windows(vec![])), Err(ExportError::NoWindow)));
    assert!(matches!(make(windows(vec![vec![]])), Err(ExportError::NoWindow)));
    let odd = make(windows(vec![vec![1, 2, 3, 4]]));
    assert!(matches!(odd, Err(ExportError::Window { found: 4, features: 3 })));
}

#[test]
fn the_ram_budget_is_checked_when_exporting_and_when_compiling() {
    let model = small();
    let with = |max_ram| package(&model, Target::C, &PackageOptions { max_ram, ..Default::default() });
    let info = with(None).unwrap().info;
    let needed = info.state_bytes + info.scratch_bytes + 2 * info.features + 4 * info.outputs;
    assert!(matches!(with(Some(needed - 1)), Err(ExportError::Ram { most, .. }) if most == needed - 1));
    for float in [false, true] {
        let options = PackageOptions { max_ram: Some(4 * needed), float, ..Default::default() };
        let folder = written(&package(&model, Target::C, &options).unwrap());
        let compile = |define: &str| {
            let mut gcc = Command::new("gcc");
            gcc.current_dir(folder.path().join("out")).args([
                "-std=c99",
                "-c",
                "model.c",
                "-o",
                "/dev/null",
                define,
            ]);
            gcc.output().unwrap().status.success()
        };
        assert!(compile("-DNOTHING"));
        assert!(!compile("-DMODEL_MAX_RAM=10"), "a smaller budget must not compile");
    }
}

#[test]
fn people_s_texts_stay_texts() {
    let package = packed(&awkward(), Target::C);
    let readme = text(&package, "README.md");
    assert!(readme.contains("größer 2"), "{readme}");
    assert!(readme.contains("acc \\*/ x"), "{readme}");
    assert!(!readme.contains("<b>"), "{readme}");
}

#[test]
fn the_readme_says_how_it_was_made_and_what_scores_mean() {
    let one = variety().into_iter().find(|(name, _)| name == "one score").unwrap().1;
    let options = PackageOptions {
        optimize: Optimize::Speed,
        max_ram: Some(9999),
        windows: Some(Windows::random(&one, 7, 1)),
        ..Default::default()
    };
    let made = package(&one, Target::C, &options).unwrap();
    let readme = text(&made, "README.md");
    assert!(readme.contains("--name model --optimize speed --max-ram 9999 --golden 7`"), "{readme}");
    assert!(readme.contains("1 if it is above 0") && !readme.contains("largest score"), "{readme}");
    assert!(readme.contains("weights are in the code"), "{readme}");
    let plain = packed(&one, Target::C);
    let readme = text(&plain, "README.md");
    assert!(readme.contains("--name model`") && readme.contains("| Arduino Uno (ATmega328P) |"), "{readme}");
}

#[test]
fn names_and_floats_that_cannot_be_are_refused() {
    let model = small();
    let named =
        |name: &str| package(&model, Target::C, &PackageOptions { name: name.into(), ..Default::default() });
    assert!(matches!(named("My Model"), Err(ExportError::Name { .. })));
    assert!(matches!(named("stdint"), Err(ExportError::NameTaken { .. })));
    for own in ["selftest_main", "features"] {
        assert!(matches!(named(own), Err(ExportError::NameTaken { .. })), "{own}");
    }
    let ok = named("gesture_2").unwrap();
    assert!(text(&ok, "gesture_2.h").contains("gesture_2_step"));
    let float = package(&model, Target::Rust, &PackageOptions { float: true, ..Default::default() });
    assert!(matches!(float, Err(ExportError::FloatTarget { target: "rust" })));
}

#[test]
fn a_folder_is_written_whole_and_nothing_of_the_user_s_is_lost() {
    let package = packed(&small(), Target::C);
    let parent = tempfile::tempdir().unwrap();
    let entries = || std::fs::read_dir(parent.path()).unwrap().count();
    let out = parent.path().join("deep/out");
    let written = package.write(&out, false).unwrap();
    assert_eq!((written.folder.as_path(), written.moved_aside), (out.as_path(), None));
    assert_eq!(std::fs::read(out.join("model.c")).unwrap(), file(&package, "model.c").bytes);

    let out = parent.path().join("mine");
    std::fs::create_dir(&out).unwrap();
    package.write(&out, false).unwrap();
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    assert!(matches!(package.write(&out, false), Err(ExportError::NotEmpty { .. })));
    for n in ["mine.old", "mine.old-2"] {
        let aside = package.write(&out, true).unwrap().moved_aside.unwrap();
        assert_eq!(aside, parent.path().join(n));
    }
    assert_eq!(std::fs::read_to_string(parent.path().join("mine.old/notes.txt")).unwrap(), "mine");
    assert!(!out.join("notes.txt").exists());

    std::fs::write(parent.path().join("file"), "a file").unwrap();
    assert!(matches!(package.write(&parent.path().join("file"), true), Err(ExportError::NotAFolder { .. })));
    assert!(matches!(package.write(Path::new("."), true), Err(ExportError::InUse { .. })));
    assert_eq!(entries(), 5, "deep, mine, mine.old, mine.old-2, file and nothing temporary");
}
