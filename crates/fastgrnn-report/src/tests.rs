use super::*;
use fastgrnn_core::metrics::ClassMetrics;

fn sample() -> RunReport {
    let curve = |seed: u64| Curve {
        name: format!("seed {seed}"),
        best_epoch: Some(18),
        points: (1..=20)
            .map(|e| {
                let x = e as f64 / 20.0 + seed as f64 * 0.01;
                Point {
                    epoch: e,
                    train_loss: Some(2.3 * (-3.0 * x).exp()),
                    train_accuracy: Some(1.0 - 0.9 * (-4.0 * x).exp()),
                    val_loss: Some(2.4 * (-2.5 * x).exp() + 0.1),
                    val_accuracy: Some(1.0 - 0.9 * (-3.5 * x).exp()),
                }
            })
            .collect(),
    };
    RunReport {
        title: "digits <fastgrnn>".into(),
        subtitle: "2 seeds".into(),
        figures: vec![
            Figure::new("test accuracy", 0.9681, Unit::Fraction, Kind::Measured).with_sd(Some(0.0042)),
            Figure::new("model", 5736.0, Unit::Bytes, Kind::Derived),
        ],
        seeds: vec![
            SeedRow { seed: 0, test_accuracy: Some(0.97), chosen: true, ..SeedRow::default() },
            SeedRow { seed: 1, ..SeedRow::default() },
        ],
        curves: vec![curve(0), curve(1)],
        confusion: Some(Confusion {
            of: "test".into(),
            classes: vec!["still & quiet".into(), "\"moving\"".into()],
            counts: vec![vec![90, 10], vec![0, 0]],
            per_class: vec![
                ClassMetrics { precision: Some(1.0), recall: Some(0.9), f1: Some(0.947_368), support: 100 },
                ClassMetrics { precision: None, recall: None, f1: None, support: 0 },
            ],
        }),
        predicted: vec![PredictedPlot { title: "<target>".into(), points: vec![(1.0, 2.0), (3.0, 3.5)] }],
        mistakes: Some(mistakes(2, 1, 50)),
        data: Some(TableSection {
            title: "Data".into(),
            columns: vec!["class".into(), "training <part>".into()],
            rows: vec![vec!["a < b".into(), "12".into()]],
            hint: "counts of <sequences>".into(),
        }),
        examples: Some(SequenceSection { title: "Examples".into(), ..SequenceSection::default() }),
        shown: ShownFeatures::choose(&["<axis>".into()], &[]),
        boards: None,
        tensors: vec![TensorRow { name: "layer0.w".into(), shape: vec![16, 8], bytes: 512 }],
        equation: vec!["h = z ∘ h + (ζ(1 − z) + ν) ∘ h̃".into()],
        config: "hidden = 16".into(),
        command: "fastgrnn train --dataset digits".into(),
        notes: vec!["column <time> left out".into()],
        version: "0.1.0".into(),
    }
}

/// `n` mistakes with `features` features and `steps` steps each.
fn mistakes(n: usize, features: usize, steps: usize) -> SequenceSection {
    let names: Vec<String> = (0..features).map(|i| format!("f{i}")).collect();
    let shown = ShownFeatures::choose(&names, &[]);
    let card = |i: usize| {
        let noise = (0..steps * features).map(|k| ((k * 7_919 + i * 131) % 1_009) as f32);
        SequenceCard {
            id: format!("<recording> {i}"),
            facts: vec![("true".into(), "still & quiet".into()), ("probability".into(), "97.00 %".into())],
            view: SequenceView::Plot(shown.plot(&noise.collect::<Vec<_>>())),
        }
    };
    SequenceSection {
        title: "Worst mistakes (test)".into(),
        text: format!("{n} of 100 are wrong & worse."),
        cards: (0..n).map(card).collect(),
    }
}

/// Every `<tag>` is closed in order; void tags aside.
fn assert_well_formed(markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in markup.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag ends");
        let name = tag.split([' ', '/']).find(|n| !n.is_empty()).unwrap_or("");
        if tag.starts_with('!') || tag.ends_with('/') || name == "meta" {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing tag without its partner");
        } else {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn texts_are_shown_as_they_are_and_long_ones_are_cut() {
    let card = |id: &str, text: String| SequenceCard {
        id: id.into(),
        facts: Vec::new(),
        view: SequenceView::Text(text),
    };
    let cards = vec![card("a", "good <b> & cheap".into()), card("b", "word ".repeat(1_000))];
    let section = SequenceSection { title: "Worst mistakes".into(), text: String::new(), cards };
    let page = RunReport { mistakes: Some(section), ..RunReport::default() }.html();
    assert_well_formed(&page);
    assert!(page.contains("<p class=\"text\">good &lt;b&gt; &amp; cheap</p>"), "{page}");
    assert!(!page.contains("picture") && page.matches("word").count() < 200);
}

#[test]
fn the_page_and_its_plots_are_well_formed_and_load_nothing() {
    let report = sample();
    let page = report.html();
    assert_well_formed(&page);
    for plot in report.plots() {
        assert_well_formed(&plot.svg);
    }
    for forbidden in ["<script", "<link", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden} in the page");
    }
}

#[test]
fn text_from_data_is_escaped_wherever_it_lands() {
    let page = sample().html();
    for raw in [
        "<fastgrnn>",
        "still & quiet",
        "\"moving\"",
        "<time>",
        "<target>",
        "<part>",
        "a < b",
        "<sequences>",
        "<axis>",
        "<recording>",
        "wrong & worse",
    ] {
        assert!(!page.contains(raw), "{raw} is not escaped");
    }
    for safe in ["digits &lt;fastgrnn&gt;", "still &amp; quiet", "&quot;moving&quot;", "column &lt;time&gt;"]
    {
        assert!(page.contains(safe), "{safe} is missing");
    }
}

#[test]
fn figures_carry_their_deviation_and_their_kind() {
    let page = sample().html();
    assert!(page.replace('\u{a0}', " ").contains("96.81 ± 0.42 %") && page.contains("measured"));
    assert!(page.replace('\u{a0}', " ").contains("5,736 B (5.6 KiB)") && page.contains("derived"));
}

#[test]
fn a_class_without_sequences_has_no_figures() {
    let page = sample().html();
    assert!(page.contains("<td>1.0000</td><td>0.9000</td><td>0.9474</td><td>100</td>"));
    assert!(page.contains("<td>–</td><td>–</td><td>–</td><td>0</td>"));
}

#[test]
fn losses_that_are_not_numbers_leave_gaps_not_broken_plots() {
    let mut report = sample();
    report.curves[0].points[3].train_loss = Some(f64::NAN);
    report.curves[0].points[4].val_loss = Some(f64::INFINITY);
    for plot in report.plots() {
        assert!(!plot.svg.contains("NaN") && !plot.svg.contains("inf"), "{}", plot.name);
    }
}

#[test]
fn an_empty_report_is_a_page_without_plots() {
    let report = RunReport::default();
    assert!(report.plots().is_empty());
    assert_well_formed(&report.html());
}

#[test]
fn a_matrix_that_is_not_square_has_no_picture() {
    let matrix = Confusion { classes: vec!["a".into(); 2], counts: vec![vec![1, 2]], ..Confusion::default() };
    assert_eq!(confusion_svg(&matrix), None);
}

#[test]
fn twenty_mistakes_of_long_sequences_keep_the_page_small() {
    for (features, steps) in [(1, 20_000), (6, 20_000), (40, 2_000), (700, 100)] {
        let report = RunReport { mistakes: Some(mistakes(20, features, steps)), ..RunReport::default() };
        let page = report.html();
        assert!(page.len() < 400_000, "{} bytes with {features} features", page.len());
        assert_eq!(page.matches("<li>").count(), 20);
        assert_well_formed(&page);
    }
}

#[test]
fn a_number_that_does_not_exist_is_a_dash() {
    assert_eq!(Figure::new("F1", None, Unit::Number, Kind::Measured).text(), "–");
    let mut report = sample();
    report.seeds[0].test_accuracy = Some(0.5);
    assert!(report.html().contains("<th scope=\"col\">test macro F1</th>"), "the column of dashes is there");
}

#[test]
fn the_title_of_a_matrix_of_two_short_names_is_not_cut() {
    let matrix = Confusion {
        of: "validation, seed 12".into(),
        classes: vec!["a".into(), "b".into()],
        counts: vec![vec![1, 0], vec![0, 1]],
        per_class: Vec::new(),
    };
    let svg = confusion_svg(&matrix).unwrap();
    let width: f64 = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let title = "Confusion matrix (validation, seed 12)";
    // A bold letter of 14 pixels is about 8 pixels wide.
    assert!(width >= 16.0 + 8.0 * title.len() as f64, "{width} pixels");
}

#[test]
fn every_plot_tells_its_numbers_to_screen_readers() {
    let report = sample();
    for plot in report.plots() {
        assert!(plot.svg.contains("<desc>"), "{}", plot.name);
    }
    let all: String = report.plots().into_iter().map(|plot| plot.svg).collect();
    for part in [
        "90 of 100 predictions are right. The most frequent mistake: still &amp; quiet predicted as",
        "validation, seed 0: 2.218 at epoch 1, 0.2970 at epoch 20; ",
        "2 sequences. True values from 1.000 to 3.000, predicted from 2.000 to 3.500;",
    ] {
        assert!(all.contains(part), "{part} is missing in {all}");
    }
    let bars = vec![Bar { name: "state".into(), value: 3.0, text: "3 a step".into() }];
    assert!(Bars { title: "b".into(), bars }.svg().unwrap().contains("<desc>state: 3 a step</desc>"));
}

#[test]
fn headings_of_tables_have_a_scope_and_tables_can_be_scrolled() {
    let mut page = sample().html();
    html::table(&mut page, "Points", &["a"], &[vec!["b".into(), "c".into()]]);
    assert!(!page.contains("<th>") && page.contains("<th scope=\"row\">b</th><td>c</td>"));
    let boxes = page.matches("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=").count();
    assert_eq!(boxes, page.matches("<table>").count());
}

#[test]
fn a_single_chart_is_not_blown_up_and_phones_have_two_columns_of_cards() {
    let page = sample().html();
    assert!(page.contains(".curves figure{max-width:562px}"));
    let (_, narrow) = page.split_once("@media (max-width:600px)").expect("rules for phones");
    assert!(narrow.contains(".cards{grid-template-columns:repeat(2,"));
}
