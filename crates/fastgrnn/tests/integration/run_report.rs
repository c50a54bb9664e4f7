//! The report of a run says what the model got wrong, what the data holds, and what boards need.

use crate::common::{classes, numbers, options, recipe};
use fastgrnn::data::{CrossValidation, Dataset, Examples, Labels, Sequences};
use fastgrnn::device::Board;
use fastgrnn::features::{Spec, extract};
use fastgrnn::model::AnyModel;
use fastgrnn::report::{RunReport, board_rows, count, run_report};
use fastgrnn::train::{Config, JudgedPart, Mistake, Outcome, Recipe, SeedRecord, Silent, run};

/// A run and its report.
fn reported(recipe: &Recipe, data: &Dataset) -> (Outcome, RunReport) {
    let folder = tempfile::tempdir().unwrap();
    let config = recipe.resolve(data).unwrap();
    let outcome = run(&config, data, &options(folder.path()), &mut Silent).unwrap();
    let report = report_of(&outcome, &config, data);
    (outcome, report)
}

fn report_of(outcome: &Outcome, config: &Config, data: &Dataset) -> RunReport {
    run_report(&outcome.summary, config, &outcome.records, &outcome.model, data, "fastgrnn train")
}

/// A recipe whose network gets much wrong.
fn hasty() -> Recipe {
    recipe().with(|r| {
        r.network.hidden = Some(2);
        r.training.epochs = Some(1);
    })
}

fn facts(report: &RunReport) -> Vec<Vec<&str>> {
    let cards = &report.mistakes.as_ref().unwrap().cards;
    cards.iter().map(|card| card.facts.iter().map(|(_, value)| value.as_str()).collect()).collect()
}

#[test]
fn the_worst_mistakes_are_the_wrong_test_sequences_with_the_greatest_probability() {
    let mut data = classes(90, 3, 9);
    let test = data.test.as_mut().unwrap();
    test.ids = Some((0..test.len()).map(|i| format!("recording <{i}>")).collect());
    for quantize in [false, true] {
        let recipe = hasty().with(|r| r.quantization.quantize = Some(quantize));
        let (outcome, report) = reported(&recipe, &data);
        let test = data.test.as_ref().unwrap();
        let predictions = match &outcome.model {
            AnyModel::Float(model) => model.evaluate(test, 1).unwrap().1,
            AnyModel::Integer(model) => model.evaluate(test, 1).unwrap().1,
        };
        let Labels::Class { index, names } = &test.y else { panic!("classes") };
        let mut wrong: Vec<(f32, usize)> = (0..test.len())
            .filter(|&i| predictions.classes[i] != index[i])
            .map(|i| (predictions.row(i)[predictions.classes[i] as usize], i))
            .collect();
        wrong.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        assert!(wrong.len() > 20, "{} are wrong", wrong.len());
        let expected: Vec<Vec<String>> = wrong[..20]
            .iter()
            .map(|&(p, i)| {
                let (truth, predicted) = (index[i] as usize, predictions.classes[i] as usize);
                let probability = format!("{:.2} %", 100.0 * p);
                vec![names[truth].clone(), names[predicted].clone(), probability]
            })
            .collect();
        assert_eq!(facts(&report), expected);
        let section = report.mistakes.as_ref().unwrap();
        assert!(section.text.starts_with(&format!("{} of the 90 test sequences are wrong", wrong.len())));
        assert_eq!(section.cards[0].id, format!("recording <{}>", wrong[0].1));
        let page = report.html();
        assert!(page.contains(&format!("recording &lt;{}&gt;", wrong[0].1)) && page.len() < 500_000);
        assert!(page.contains("wave</span>") && page.contains("noise</span>"), "the features are named");
    }
}

#[test]
fn a_run_without_mistakes_says_so_and_without_a_test_part_validation_is_judged() {
    let data = Dataset { test: None, ..classes(120, 2, 12) };
    let recipe = recipe().with(|r| {
        r.training.epochs = Some(30);
        r.training.lr = Some(0.02);
    });
    let (outcome, report) = reported(&recipe, &data);
    let val = outcome.summary.val.as_ref().unwrap();
    assert_eq!(val.accuracy, Some(1.0), "the data is easy");
    let section = report.mistakes.as_ref().unwrap();
    assert_eq!(section.text, format!("No mistakes on the {} validation sequences.", val.n));
    assert!(section.cards.is_empty() && report.html().contains("No mistakes on the"));
    let (outcome, _) = reported(&hasty(), &data);
    let results = outcome.records[0].sequences.as_ref().unwrap();
    let (_, val) = hasty().resolve(&data).unwrap().split(&data).unwrap();
    assert!(results.part == JudgedPart::Validation && results.n == val.len() && results.wrong > 0);
    assert!(results.mistakes.iter().all(|mistake| val.contains(&(mistake.index() as u32))));
}

#[test]
fn with_cross_validation_the_mistakes_are_those_of_the_pooled_scores() {
    let data = Dataset { test: None, ..classes(70, 2, 6) };
    for positive in [None, Some("class 1".to_owned())] {
        let recipe = hasty().with(|r| {
            r.preparation.cv = Some(CrossValidation::Folds(3));
            r.training.positive = positive;
        });
        let (outcome, _) = reported(&recipe, &data);
        let record = &outcome.records[0];
        let (results, val) = (record.sequences.as_ref().unwrap(), record.val.as_ref().unwrap());
        let counts = val.confusion.as_ref().unwrap().counts();
        assert_eq!((results.n, results.wrong as u64), (70, counts[0][1] + counts[1][0]));
        for mistake in &results.mistakes {
            let Mistake::Class { probability, .. } = mistake else { panic!("a class") };
            // A class is predicted where it is the more probable one; folds may round the other way.
            assert!(*probability >= 0.499, "{mistake:?}");
        }
    }
}

#[test]
fn a_regression_shows_predicted_against_true_and_its_largest_errors() {
    let (outcome, report) = reported(&recipe(), &numbers(60));
    let results = outcome.records[0].sequences.as_ref().unwrap();
    assert_eq!((results.pairs.len(), results.pairs[0].len(), results.mistakes.len()), (1, 60, 20));
    let errors: Vec<f32> = results.pairs[0].iter().map(|(t, p)| (t - p).abs()).collect();
    let largest = errors.iter().copied().fold(0.0, f32::max);
    let Mistake::Value { true_value, predicted_value, index, .. } = results.mistakes[0] else {
        panic!("a number")
    };
    assert_eq!((true_value - predicted_value).abs(), largest);
    assert_eq!(errors[index as usize], largest);
    assert_eq!(report.plots().iter().map(|p| p.name).collect::<Vec<_>>(), ["loss.svg", "predicted.svg"]);
    let page = report.html();
    for part in ["Predicted against true", "Largest errors (test, seed 0)", "test R²", "stroke-dasharray"] {
        assert!(page.contains(part), "the page does not show '{part}'");
    }
}

#[test]
fn a_record_of_an_earlier_version_gives_a_report_without_mistakes() {
    let data = classes(60, 2, 6);
    let (mut outcome, _) = reported(&hasty(), &data);
    let mut json = serde_json::to_value(&outcome.records[0]).unwrap();
    json.as_object_mut().unwrap().remove("sequences").expect("it was written");
    outcome.records[0] = serde_json::from_value::<SeedRecord>(json).unwrap();
    let config = hasty().resolve(&data).unwrap();
    assert_eq!(report_of(&outcome, &config, &data).mistakes, None);
    // Indices that the data does not have are no panic.
    let mut json = serde_json::to_value(&outcome.records[0]).unwrap();
    json["sequences"] = serde_json::json!({ "part": "test", "n": 9, "wrong": 2, "mistakes": [
        { "index": 4_000_000_000u32, "true_class": 0, "predicted_class": 1, "probability": 0.9 },
        { "index": 1, "true_class": 0, "predicted_class": 77, "probability": 0.9 },
    ]});
    outcome.records[0] = serde_json::from_value::<SeedRecord>(json).unwrap();
    assert!(report_of(&outcome, &config, &data).mistakes.unwrap().cards.is_empty());
}

#[test]
fn the_report_says_how_many_sequences_of_each_class_are_in_each_part() {
    let data = classes(90, 3, 9);
    let (_, report) = reported(&hasty(), &data);
    let table = report.data.as_ref().unwrap();
    assert_eq!(table.columns, ["class", "training", "validation", "test"]);
    assert_eq!(table.rows[0][3], "30 (33.33 %)");
    let (train, val) = hasty().resolve(&data).unwrap().split(&data).unwrap();
    assert_eq!(table.rows[3], ["all", &train.len().to_string(), &val.len().to_string(), "90"]);
    let examples = report.examples.as_ref().unwrap();
    let found: Vec<&str> = examples.cards.iter().map(|card| card.facts[0].1.as_str()).collect();
    assert_eq!(found, ["class 0", "class 1", "class 2"]);
    assert_eq!(examples.cards[1].id, "1");
    let (_, report) = reported(&hasty(), &classes(90, 10, 9));
    assert_eq!(report.examples.unwrap().cards.len(), 8);
    let (_, report) = reported(&hasty(), &numbers(60));
    assert_eq!(report.data.unwrap().rows.len(), 3);
    assert_eq!(report.examples.unwrap().cards.len(), 3);
}

#[test]
fn flash_and_ram_of_a_model_that_listens_count_the_front_end() {
    let spec = Spec::default();
    let mut x = Sequences::new(spec.dim());
    let sound = |i: usize| (0..8_000).map(move |t| ((t * (3 + i % 2 * 40) % 199) * 60) as i16);
    (0..40).for_each(|i| x.push(&extract(&spec, &sound(i).collect::<Vec<_>>())));
    let names = vec!["low".to_owned(), "high".to_owned()];
    let y = Labels::Class { index: (0..40).map(|i| i % 2).collect(), names };
    let mut data = Dataset::new("sounds", Examples::new(x, y));
    data.audio = Some(spec);
    let recipe = hasty().with(|r| r.quantization.quantize = Some(true));
    let (outcome, report) = reported(&recipe, &data);
    let AnyModel::Integer(model) = &outcome.model else { panic!("an integer model") };
    let row = board_rows(model).into_iter().find(|row| row.board == "m0plus").unwrap();
    assert!(row.ram_bytes > 3_000 && model.ram_bytes() < 1_000, "the front end takes most of {row:?}");
    let figure = |label: &str| report.figures.iter().find(|f| f.label == label).unwrap().value;
    assert_eq!(figure("RAM on an MKR1000"), Some(row.ram_bytes as f64));
    assert_eq!(figure("flash on an MKR1000"), Some(row.flash_bytes as f64));
    let table = report.boards.as_ref().unwrap();
    assert_eq!(table.columns[2..4], ["flash, B (derived)", "RAM, B (derived)"]);
    assert_eq!(table.columns[5], "ms a step (modelled)");
    let found = table.rows.iter().find(|cells| cells[0].starts_with("m0plus: Arduino MKR1000")).unwrap();
    assert!(found[1..] == row.cells()[1..] && table.hint.contains("include the audio front end"));
    assert!(row.cells()[3].starts_with(&count(row.ram_bytes as u64)));
    let mut small = hasty().with(|r| r.quantization.quantize = Some(true));
    small.limits.fit = Some(Board::Uno);
    let (_, report) = reported(&small, &classes(60, 2, 6));
    assert!(report.figures.iter().any(|f| f.label == "RAM on an Uno"));
    assert_eq!(reported(&hasty(), &classes(60, 2, 6)).1.boards, None, "a float model is on no board");
}

#[test]
fn scores_of_a_class_that_does_not_occur_are_dashes() {
    let mut data = classes(60, 2, 6);
    let test = data.test.as_mut().unwrap();
    let Labels::Class { index, .. } = &mut test.y else { panic!("classes") };
    index.fill(0);
    let recipe = recipe().with(|r| r.training.positive = Some("class 1".into()));
    let (outcome, report) = reported(&recipe, &data);
    let scores = outcome.summary.test.as_ref().unwrap();
    assert_eq!((scores.f1, scores.recall, scores.f1_macro), (None, None, None));
    let text = |label: &str| report.figures.iter().find(|f| f.label == label).unwrap().text();
    for label in ["test macro F1", "test F1 of the positive class", "test recall"] {
        assert_eq!(text(label), "–", "{label}");
    }
    assert_eq!(text("test threshold"), fastgrnn::report::number(scores.threshold.unwrap()));
}
