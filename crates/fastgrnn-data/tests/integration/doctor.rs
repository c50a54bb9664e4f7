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
