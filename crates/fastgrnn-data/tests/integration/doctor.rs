//! What the doctor finds in data, and what it does not.

use fastgrnn_data::data::{
    self, DataError, Dataset, Examples, Finding, FindingCode, Labels, Sequences, Severity,
};
use fastgrnn_data::data::{Request, doctor};

/// Noise of two classes with `dim` features.
fn noise(n: usize, steps: usize, dim: usize, seed: u64) -> Examples {
    let mut rng = fastgrnn_core::rng::Rng::new(seed);
    let mut x = Sequences::new(dim);
    (0..n).for_each(|_| x.push(&(0..steps * dim).map(|_| rng.normal() as f32).collect::<Vec<_>>()));
    let names = vec!["no".to_string(), "yes".to_string()];
    Examples::new(x, Labels::Class { index: (0..n as u32).map(|i| i % 2).collect(), names })
}

fn changed(examples: &Examples, change: impl Fn(usize, &mut [f32])) -> Examples {
    let mut x = Sequences::new(examples.x.dim());
    for i in 0..examples.len() {
        let mut values = examples.x.get(i).to_vec();
        change(i, &mut values);
        x.push(&values);
    }
    Examples { x, ..examples.clone() }
}

fn codes(findings: &[Finding]) -> Vec<FindingCode> {
    findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn plain_data_has_no_findings() {
    let data = Dataset::new("noise", noise(80, 20, 3, 1)).with_test(noise(40, 20, 3, 2));
    assert_eq!(doctor::examine(&data), []);
    let digits = data::load(&Request::new("digits")).unwrap();
    assert_eq!(digits.findings, []);
}

#[test]
fn features_that_tell_nothing_are_named() {
    let train = changed(&noise(60, 10, 4, 1), |_, values| {
        for row in values.chunks_exact_mut(4) {
            (row[1], row[3]) = (7.5, row[0]);
        }
    });
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let data = Dataset::new("noise", train.clone()).with_features(Some(names));
    let findings = doctor::examine(&data);
    assert_eq!(codes(&findings), [FindingCode::ConstantFeature, FindingCode::DuplicateFeature]);
    assert!(findings[0].message.contains("'b' (always 7.5)"), "{}", findings[0]);
    assert!(findings[1].message.contains("'d' is a copy of 'a'"), "{}", findings[1]);
    let silent = Dataset::new("zeros", changed(&train, |_, values| values.fill(0.0)));
    let findings = doctor::examine(&silent);
    assert_eq!((findings[0].code, findings[0].severity), (FindingCode::NoSignal, Severity::Error));
}

#[test]
fn copies_are_counted_and_a_test_part_of_them_stops() {
    let train = noise(100, 10, 2, 1);
    let copied = changed(&train, |i, values| {
        if i == 9 {
            values.copy_from_slice(train.x.get(3));
        }
    });
    let findings = doctor::examine(&Dataset::new("noise", copied.clone()));
    assert_eq!(codes(&findings), [FindingCode::Copies]);
    assert!(
        findings[0].message.starts_with("1 of 100") && findings[0].message.contains("number 9 of number 3")
    );
    // The training part as the test part.
    let findings = doctor::examine(&Dataset::new("noise", train.clone()).with_test(train.clone()));
    assert_eq!((findings[0].code, findings[0].severity), (FindingCode::TrainInTest, Severity::Error));
    let error = doctor::check(&findings, &[]).unwrap_err();
    assert!(matches!(error, DataError::Finding(_)), "{error}");
    assert!(error.to_string().contains("`allow = train-in-test`"), "{error}");
    doctor::check(&findings, &["train-in-test".into()]).unwrap();
    let error = doctor::check(&findings, &["leak".into()]).unwrap_err().to_string();
    assert!(error.contains("'leak'") && error.contains("train-in-test"), "{error}");
    // One of many is a warning; silence is no copy of silence.
    let one = changed(&noise(200, 10, 2, 2), |i, values| {
        if i == 0 {
            values.copy_from_slice(train.x.get(0));
        }
        if i > 150 {
            values.fill(0.0);
        }
    });
    let findings = doctor::examine(&Dataset::new("noise", train).with_test(one));
    assert_eq!((findings[0].code, findings[0].severity), (FindingCode::TrainInTest, Severity::Warning));
    assert_eq!(findings.len(), 1);
}

#[test]
fn classes_that_are_rare_or_absent_in_a_part_are_named() {
    let mut train = noise(80, 10, 2, 1);
    let Labels::Class { index, .. } = &mut train.y else { panic!("classes") };
    index.iter_mut().enumerate().for_each(|(i, class)| *class = u32::from(i < 3));
    let data = Dataset::new("noise", train);
    let findings = doctor::examine(&data);
    assert_eq!(codes(&findings), [FindingCode::ClassRare]);
    assert!(findings[0].message.contains("'yes' (3)"), "{}", findings[0]);
    let (train, validation): (Vec<u32>, Vec<u32>) = (0..80).partition(|&i| i < 40);
    let findings = doctor::examine_parts(&data, &train, &validation);
    assert_eq!(codes(&findings), [FindingCode::ClassAbsent]);
    assert!(findings[0].message.contains("validation part has no sequence of 'yes'"), "{}", findings[0]);
    let few = doctor::examine_parts(&data, &train, &validation[..10]);
    assert!(codes(&few).contains(&FindingCode::SmallPart));
}

#[test]
fn channels_first_are_recognised_by_what_is_smooth() {
    let wave = |along_steps: bool| {
        let (steps, dim) = if along_steps { (12, 60) } else { (3, 100) };
        let mut rng = fastgrnn_core::rng::Rng::new(4);
        let mut x = Sequences::new(dim);
        for _ in 0..20 {
            let phase = rng.range(0.0, 6.0);
            let value = |t: usize, f: usize| match along_steps {
                true => (t as f64 * 0.1 + f as f64 * 2.0 + phase).sin(),
                false => (f as f64 * 0.1 + t as f64 * 2.0 + phase).sin(),
            };
            x.push(&(0..steps * dim).map(|i| value(i / dim, i % dim) as f32).collect::<Vec<_>>());
        }
        let names = vec!["no".to_string(), "yes".to_string()];
        let y = Labels::Class { index: (0..20).map(|i| i % 2).collect(), names };
        doctor::examine(&Dataset::new("waves", Examples::new(x, y)))
    };
    let findings = wave(false);
    assert_eq!(codes(&findings), [FindingCode::ChannelsFirst]);
    assert!(findings[0].message.contains("3 steps with 100 features"), "{}", findings[0]);
    assert_eq!(wave(true), []);
}

#[test]
fn many_whole_numbers_as_classes_look_like_values() {
    let text: String = (0..240).map(|i| format!("{},{},{}\n", i % 7, i % 11, 60 + i % 40)).collect();
    let data = data::load_bytes("rate.csv", format!("a,b,label\n{text}").as_bytes(), &Request::default());
    let findings = data.unwrap().findings;
    assert!(codes(&findings).contains(&FindingCode::NumbersAsClasses), "{findings:?}");
}

#[test]
fn a_group_on_both_sides_is_named() {
    let text = |groups: [&str; 2]| {
        let row = |i: usize| {
            format!("{i},{},{},{}\n", (i * i) % 13, groups[i % 2], if i % 4 < 2 { "u" } else { "v" })
        };
        format!("a,b,subject,label\n{}", (0..40).map(row).collect::<String>())
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x_TRAIN.csv"), text(["ann", "bob"])).unwrap();
    std::fs::write(folder.path().join("x_TEST.csv"), text(["bob", "eve"])).unwrap();
    let data = data::load(&Request::new(folder.path().to_str().unwrap())).unwrap();
    let found = data.findings.iter().find(|f| f.code == FindingCode::GroupInBoth).unwrap();
    assert!(found.message.ends_with("test part: bob"), "{found}");
}

/// Noise of three classes that were recorded one after the other, with a column `clock` of which
/// `at(recording, step)` is the value.
fn recorded(clock: &str, at: impl Fn(usize, usize) -> String) -> String {
    let mut rng = fastgrnn_core::rng::Rng::new(7);
    let mut text = format!("rec,{clock},x,y,label\n");
    for recording in 0..30 {
        for step in 0..20 {
            let (x, y, class) = (rng.normal(), rng.normal(), ["idle", "run", "walk"][recording / 10]);
            text += &format!("{recording},{},{x:.4},{y:.4},{class}\n", at(recording, step));
        }
    }
    text
}

fn read(text: &str, change: impl FnOnce(&mut data::DataConfig)) -> Dataset {
    let request = Request::default().with_data(|data| data.id_col = Some("rec".into())).with_data(change);
    data::load_bytes("log.csv", text.as_bytes(), &request).unwrap()
}

#[test]
fn clocks_and_counters_under_any_name_are_left_out_and_can_be_brought_back() {
    let row = |r: usize, t: usize| r * 20 + t;
    for (name, at) in [
        (
            "seconds_elapsed",
            (&|r, t| format!("{:.3}", row(r, t) as f64 * 0.02)) as &dyn Fn(usize, usize) -> String,
        ),
        ("PacketCounter", &|r, t| (65_000 + row(r, t)).to_string()),
        ("epoc (ms)", &|r, t| (1_700_000_000_000u64 + 20 * row(r, t) as u64).to_string()),
        ("loggingTime", &|r, t| (1_700_000_000_000_000_000u64 + 20_000_000 * row(r, t) as u64).to_string()),
        ("Zeit", &|_, t| format!("{:.2}", t as f64 * 0.02)),
        ("wibble", &|r, t| (1e6 - row(r, t) as f64).to_string()),
    ] {
        let text = recorded(name, at);
        let data = read(&text, |_| {});
        assert_eq!(data.features.as_deref(), Some(&["x".to_string(), "y".to_string()][..]), "{name}");
        let found = data.findings.iter().find(|f| f.code == FindingCode::ClockColumn).unwrap();
        assert!(
            found.message.contains(&format!("'{name}'")) && found.remedy.contains("`columns`"),
            "{found}"
        );
        assert_eq!(data.train.x.get(0).len(), 40, "{name}");
        let kept = read(&text, |data| data.columns = Some(vec![name.into(), "x".into()]));
        assert_eq!(kept.train.x.dim(), 2);
        assert!(kept.findings.iter().all(|f| f.code != FindingCode::ClockColumn));
    }
}

#[test]
fn a_folder_of_tables_is_judged_as_a_whole() {
    // In one file the signal rises like a clock, in the others it does not.
    let file = |k: usize| {
        let row = |t: usize| {
            let signal = if k == 0 { t as f64 } else { ((t * (k + 3)) % 7) as f64 };
            format!("{},{signal},{}\n", t * 10, (t * t * (k + 1)) % 5)
        };
        format!("ticks,a,b\n{}", (0..24).map(row).collect::<String>())
    };
    let folder = tempfile::tempdir().unwrap();
    for k in 0..8 {
        let class = folder.path().join(if k % 2 == 0 { "even" } else { "odd" });
        std::fs::create_dir_all(&class).unwrap();
        std::fs::write(class.join(format!("{k}.csv")), file(k)).unwrap();
    }
    let data = data::load(&Request::new(folder.path().to_str().unwrap())).unwrap();
    assert_eq!(data.features.as_deref(), Some(&["a".to_string(), "b".to_string()][..]));
    let found: Vec<&Finding> = data.findings.iter().filter(|f| f.code == FindingCode::ClockColumn).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("'ticks'"), "{}", found[0]);
}

#[test]
fn an_index_of_sequences_is_left_out_too_and_a_model_reads_without_it() {
    let row =
        |i: usize| format!("{i},{},{},{},{}\n", (i * 7) % 5, (i * 3) % 4, (i * i) % 9, ["a", "b"][i % 2]);
    let text = format!("nr,s0,s1,s2,label\n{}", (0..40).map(row).collect::<String>());
    let data = data::load_bytes("wide.csv", text.as_bytes(), &Request::default()).unwrap();
    assert_eq!(data.train.x.get(3), [1.0, 1.0, 0.0]);
    assert_eq!(codes(&data.findings)[0], FindingCode::ClockColumn);
    let classes = vec!["a".to_string(), "b".to_string()];
    let expect = data::Expect { dim: 1, steps: 3, classes, ..data::Expect::default() };
    let request = Request { expect: Some(expect), ..Request::default() };
    let again = data::load_bytes("wide.csv", text.as_bytes(), &request).unwrap();
    assert_eq!(again.train.x.get(3), [1.0, 1.0, 0.0]);
}

#[test]
fn rows_out_of_time_order_are_sorted_and_refused_where_the_order_is_unknown() {
    let ordered = recorded("time", |_, t| t.to_string());
    let mut lines: Vec<&str> = ordered.lines().collect();
    let plain = read(&ordered, |_| {});
    fastgrnn_core::rng::Rng::new(3).shuffle(&mut lines[1..]);
    let shuffled = read(&(lines.join("\n") + "\n"), |_| {});
    let found = shuffled.findings.iter().find(|f| f.code == FindingCode::RowsSorted).unwrap();
    assert!(found.message.contains("'time'") && found.message.contains("30 of 30"), "{found}");
    let sequence = |data: &Dataset, id: &str| {
        let ids = data.train.ids.as_ref().unwrap();
        data.train.x.get(ids.iter().position(|other| other == id).unwrap()).to_vec()
    };
    for recording in 0..30 {
        let id = recording.to_string();
        assert_eq!(sequence(&shuffled, &id), sequence(&plain, &id), "{id}");
    }
    let dates = recorded("date", |_, t| format!("2024-05-{:02}T12:00:00Z", 30 - t));
    assert!(codes(&read(&dates, |_| {}).findings).contains(&FindingCode::RowsSorted));
    let repeated = recorded("time", |_, t| (t % 10).to_string());
    let data = read(&repeated, |_| {});
    let found = data.findings.iter().find(|f| f.code == FindingCode::TimesRepeat).unwrap();
    assert_eq!(found.severity, Severity::Error);
    assert!(doctor::check(&data.findings, &[]).is_err());
    doctor::check(&data.findings, &["times-repeat".into()]).unwrap();
}

#[test]
fn values_that_an_f32_cannot_tell_apart_are_named() {
    let mut rng = fastgrnn_core::rng::Rng::new(9);
    let row = |i: usize, noise: f64| {
        format!("{},{:.3},{:.3},{}\n", i / 10, 1e8 + noise, noise, ["a", "b"][i / 10 % 2])
    };
    let rows: String = (0..400).map(|i| row(i, rng.normal())).collect();
    let data = read(&format!("rec,pressure,x,label\n{rows}"), |_| {});
    let found = data.findings.iter().find(|f| f.code == FindingCode::LostDigits).unwrap();
    assert!(found.message.contains("'pressure'") && !found.message.contains("'x'"), "{found}");
}

#[test]
fn folds_that_are_small_or_lack_a_class_are_named() {
    let mut train = noise(6, 10, 2, 1);
    let Labels::Class { index, names } = &mut train.y else { panic!("classes") };
    *names = ["a", "b", "c"].map(String::from).to_vec();
    index.iter_mut().enumerate().for_each(|(i, class)| *class = i as u32 / 2);
    let data = Dataset::new("noise", train);
    let findings = doctor::examine_folds(&data, &[vec![0, 2], vec![1, 4], vec![3, 5]]);
    assert_eq!(codes(&findings), [FindingCode::SmallFolds]);
    let message = &findings[0].message;
    assert!(message.contains("6 sequences in 3 folds, and 3 of the folds lack a class"), "{message}");
    assert!(doctor::examine_folds(&data, &[]).is_empty());
    let many = Dataset::new("noise", noise(80, 10, 2, 1));
    let (even, odd) = (0..80).partition(|i| i / 2 % 2 == 0);
    assert_eq!(codes(&doctor::examine_folds(&many, &[even, odd])), []);
    let (first, second): (Vec<u32>, Vec<u32>) = (0..80).partition(|i| i % 2 == 0);
    assert_eq!(codes(&doctor::examine_folds(&many, &[first, second])), [FindingCode::SmallFolds]);
}
