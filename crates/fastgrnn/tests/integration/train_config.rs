//! Recipes, their defaults, and what is refused.

use crate::common::{classes, numbers, recipe};
use fastgrnn::data::Dataset;
use fastgrnn::train::{
    AugmentSetting, Axes, Config, ConfigError, FormSetting, Optimizer, Rank, Recipe, Schedule,
};

fn plain() -> Recipe {
    Recipe { dataset: Some("generated".into()), ..Recipe::default() }
}

fn resolved(recipe: Recipe, data: &Dataset) -> Config {
    recipe.resolve(data).unwrap()
}

#[test]
fn defaults_grow_with_the_data() {
    for (n, hidden) in [(40, 16), (400, 32), (4_000, 64)] {
        let config = resolved(plain(), &classes(n, 2, 5));
        assert_eq!(config.hidden, hidden);
        assert!(config.batch <= n / 4 && config.batch <= 100);
        let steps = config.epochs * (n * 4 / 5).div_ceil(config.batch);
        assert!(steps >= 2_000, "{n} sequences get {steps} steps");
    }
}

#[test]
fn defaults_for_long_sequences_stay_affordable() {
    let short = resolved(plain(), &classes(2_000, 2, 10));
    let long = resolved(Recipe { hidden: Some(512), ..plain() }, &classes(2_000, 2, 1_000));
    assert!(long.epochs < short.epochs && long.epochs >= 1, "{} {}", long.epochs, short.epochs);
}

#[test]
fn a_plain_rnn_and_plain_gradient_descent_have_their_own_learning_rates() {
    let data = classes(40, 2, 5);
    let lr = |recipe: Recipe| resolved(recipe, &data).lr;
    assert_eq!(lr(plain()), 0.003);
    assert_eq!(lr(Recipe { cell: Some(fastgrnn::cells::CellKind::Rnn), ..plain() }), 0.001);
    assert_eq!(lr(Recipe { optimizer: Some(Optimizer::Sgd), ..plain() }), 0.1);
}

#[test]
fn groups_are_kept_whole_by_default_where_that_is_possible() {
    let mut data = classes(60, 2, 5);
    assert!(!resolved(plain(), &data).val_group);
    data.train.group = Some((0..60).map(|i| i / 10).collect());
    assert!(resolved(plain(), &data).val_group);
    assert!(!resolved(Recipe { val_group: Some(false), ..plain() }, &data).val_group);
    data.train.group = Some((0..60).map(|i| i % 2).collect());
    for seeds in [1, 3] {
        let error = Recipe { seeds: Some(seeds), ..plain() }.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Split { .. }), "each class is one group: {error}");
        assert!(error.to_string().contains("--val-group=false"), "{error}");
    }
    assert!(!resolved(Recipe { val_group: Some(false), ..plain() }, &data).val_group);
}

#[test]
fn settings_that_nothing_would_read_are_refused() {
    use fastgrnn::cells::{CellKind, Nonlinearity};
    let data = classes(60, 2, 5);
    let fixed = Some("0.5".parse().unwrap());
    for (recipe, message) in [
        (Recipe { alpha: fixed, ..plain() }, "alpha = 0.5: a fastgrnn has no alpha"),
        (Recipe { zeta: fixed, cell: Some(CellKind::Gru), ..plain() }, "--cell fastrnn-vector or fastgrnn"),
        (
            Recipe { gate: Some(Nonlinearity::Relu), cell: Some(CellKind::FastRnn), ..plain() },
            "gate = relu: a fastrnn has no gate",
        ),
        (Recipe { decay_every: Some(3.0), ..plain() }, "decay-every = 3: the cosine schedule has no steps"),
        (
            Recipe { momentum: Some(0.5), optimizer: Some(Optimizer::Sgd), ..plain() },
            "momentum = 0.5: sgd has no momentum",
        ),
    ] {
        let error = recipe.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Unused { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    for cell in [CellKind::Rnn, CellKind::FastRnn, CellKind::Gru] {
        let config = resolved(Recipe { cell: Some(cell), ..plain() }, &data);
        let written = Recipe::from_toml_str(&config.to_toml(), "config.toml").unwrap();
        assert_eq!(resolved(written, &data), config, "written defaults may stand");
    }
}

#[test]
fn epochs_cut_below_the_fewest_steps_are_noted() {
    let (short, long) = (classes(200, 2, 5), classes(200, 2, 2_000));
    let big = Recipe { hidden: Some(2_048), ..plain() };
    assert!(plain().notes(&resolved(plain(), &short), &short).is_empty());
    let notes = big.notes(&resolved(big.clone(), &long), &long);
    assert!(notes.len() == 1 && notes[0].contains("--epochs"), "{notes:?}");
    let chosen = Recipe { epochs: Some(1), ..big };
    assert!(chosen.notes(&resolved(chosen.clone(), &long), &long).is_empty());
}

#[test]
fn sequences_too_long_for_memory_are_refused_with_their_length() {
    use fastgrnn::data::{Examples, Labels, Sequences};
    let mut x = Sequences::new(1);
    (0..4).for_each(|_| x.push(&vec![0.0; 4_000_000]));
    let names = vec!["a".to_string(), "b".to_string()];
    let y = Labels::Class { index: vec![0, 1, 0, 1], names };
    let data = Dataset { train: Examples::new(x, y), test: None, ..classes(10, 2, 5) };
    let recipe = Recipe { hidden: Some(64), batch: Some(4), epochs: Some(1), ..plain() };
    let config = resolved(recipe, &data);
    let error = config.check_memory(&data, 2).unwrap_err().to_string();
    assert!(error.contains("4000000 steps") && error.contains("--window"), "{error}");
    resolved(plain(), &classes(60, 2, 784)).check_memory(&classes(60, 2, 784), 64).unwrap();
}

#[test]
fn a_recipe_without_a_data_set_takes_the_name_of_the_data() {
    assert_eq!(resolved(Recipe::default(), &classes(60, 2, 5)).dataset, "generated");
}

#[test]
fn named_axes_turn_augmentation_on_and_nothing_else_does() {
    let mut data = classes(60, 2, 5);
    assert_eq!(resolved(plain(), &data).augment, AugmentSetting::none());
    let error = Recipe { axes: Some(Axes(vec![[0, 1, 2]])), ..plain() }.resolve(&data).unwrap_err();
    assert!(error.to_string().contains("no column 2"), "{error}");
    data.train.x = three_axes(60);
    data.test = None;
    let config = resolved(Recipe { axes: Some(Axes(vec![[0, 1, 2]])), ..plain() }, &data);
    assert_eq!((config.augment.rotate, config.augment.scale), (0.25, 0.1));
    data.suggested.axes = vec![[0, 1, 2]];
    assert_eq!(resolved(plain(), &data).augment.rotate, 0.25);
    let off = Recipe { augment: Some(AugmentSetting::none()), ..plain() };
    assert_eq!(resolved(off, &data).augment, AugmentSetting::none());
}

fn three_axes(n: usize) -> fastgrnn::data::Sequences {
    let mut x = fastgrnn::data::Sequences::new(3);
    (0..n).for_each(|i| x.push(&[i as f32; 12]));
    x
}

#[test]
fn falling_schedules_fall_by_the_papers_habit() {
    let data = classes(60, 2, 5);
    let of = |schedule| Recipe { schedule: Some(schedule), epochs: Some(300), ..plain() };
    assert_eq!(resolved(of(Schedule::Step), &data).decay_every, Some(200.0));
    assert_eq!(resolved(of(Schedule::Halving), &data).decay_every, Some(75.0));
    assert_eq!(resolved(of(Schedule::Cosine), &data).decay_every, None);
}

#[test]
fn every_key_of_a_configuration_is_a_key_of_a_recipe() {
    let config = resolved(recipe(), &classes(60, 2, 5));
    let table: toml::Table = toml::from_str(&config.to_toml()).unwrap();
    let keys = Recipe::keys();
    assert!(table.keys().all(|key| keys.contains(key)));
    // Every key that a recipe may set comes back from the configuration, if it is set.
    let optional = ["test", "data-dir", "timesteps", "window", "stride", "id-col", "label-col"];
    let optional =
        [&optional[..], &["group-col", "columns", "drop", "size-limit", "decay-every", "input-lsb"]].concat();
    let optional = [&optional[..], &["fit", "max-flash", "max-ram", "max-ms", "board"]].concat();
    let optional =
        [&optional[..], &["class-share", "epoch-draws", "positive", "label-smoothing", "mixup", "teacher"]]
            .concat();
    let optional = [&optional[..], &["teacher-weight", "teacher-temperature", "ema"]].concat();
    let of_recordings = ["features", "words", "unknown-share", "silence-share", "clip-seconds", "skip-bad"];
    let optional = [&optional[..], &of_recordings, &["test-apart"]].concat();
    for key in keys.iter().filter(|key| !optional.contains(&key.as_str())) {
        assert!(table.contains_key(key), "{key}");
    }
}

#[test]
fn a_model_file_carries_no_paths() {
    let data = classes(60, 2, 5);
    let recipe = Recipe {
        dataset: Some("/secret/place".into()),
        test: Some("/secret/test".into()),
        teacher: Some("/secret/teacher".into()),
        ..recipe()
    };
    let portable = serde_json::to_string(&resolved(recipe, &data).portable()).unwrap();
    assert!(!portable.contains("secret"), "{portable}");
}

#[test]
fn values_out_of_range_are_named_with_their_key() {
    let data = classes(60, 2, 5);
    for (recipe, message) in [
        (Recipe { lr: Some(0.0), ..plain() }, "lr = 0: it must be a number above 0"),
        (Recipe { lr: Some(f64::NAN), ..plain() }, "lr = NaN"),
        (Recipe { epochs: Some(0), ..plain() }, "epochs = 0: it must be at least 1"),
        (Recipe { batch: Some(0), ..plain() }, "batch = 0"),
        (Recipe { seeds: Some(0), ..plain() }, "seeds = 0"),
        (Recipe { val_split: Some(1.0), ..plain() }, "val-split = 1"),
        (Recipe { momentum: Some(1.0), ..plain() }, "momentum = 1"),
        (Recipe { clip: Some(-1.0), ..plain() }, "clip = -1"),
        (Recipe { hidden: Some(0), ..plain() }, "hidden is 0"),
        (Recipe { hidden: Some(usize::MAX), ..plain() }, "hidden = 18446744073709551615"),
        (Recipe { hidden: Some(65_536), ..plain() }, "is too large; use a smaller --hidden"),
        (Recipe { layers: Some(0), ..plain() }, "at least one layer"),
        (Recipe { layers: Some(1_000_000), ..plain() }, "layers = 1000000"),
        (Recipe { rank_w: Some(Rank::Of(3)), ..plain() }, "rank_w 3 is larger than the"),
        (
            Recipe { rank_u: Some(Rank::Of(2)), form_u: Some(FormSetting::Diagonal), ..plain() },
            "rank-u = 2: form-u = diagonal has no rank",
        ),
        (
            Recipe { sparsity_u: Some(0.5), form_u: Some(FormSetting::None), ..plain() },
            "sparsity-u = 0.5: form-u = none is not pruned",
        ),
        (Recipe { form_w: Some(FormSetting::None), ..plain() }, "a layer must read its input"),
        (Recipe { form_w: Some(FormSetting::Diagonal), ..plain() }, "form_w diagonal needs as many units as"),
        (Recipe { seed: Some(u64::MAX), ..plain() }, "seed = 18446744073709551615"),
        (Recipe { nu: Some("2".parse().unwrap()), ..plain() }, "nu is fixed at 2"),
        (Recipe { initial_state: Some("1,2,3".parse().unwrap()), ..plain() }, "initial-state has 3 numbers"),
        (Recipe { patience: Some(3), val_split: Some(0.0), ..plain() }, "patience = 3"),
        (Recipe { augment: Some("rotate=0.2".parse().unwrap()), ..plain() }, "--axes"),
        (Recipe { lr: Some(1e39), ..plain() }, "lr = 1"),
        (Recipe { epochs: Some(1 << 40), ..plain() }, "epochs = 1099511627776: it must be below 2^31"),
        (Recipe { window: Some(usize::MAX), ..plain() }, "window = 18446744073709551615"),
        (Recipe { seeds: Some(1 << 20), ..plain() }, "seeds = 1048576"),
        (Recipe { size_limit: Some(u64::MAX), ..plain() }, "size-limit = 18446744073709551615"),
        (
            Recipe { positive: Some("marvin".into()), ..plain() },
            "positive names the class 'marvin'; the training data has class 0, class 1",
        ),
        (Recipe { label_smoothing: Some(1.0), ..plain() }, "label-smoothing = 1: it must be at least 0 and"),
        (Recipe { ema: Some(1.0), ..plain() }, "ema = 1: it must be at least 0 and below 1"),
        (Recipe { mixup: Some(-1.0), ..plain() }, "mixup = -1"),
        (
            Recipe { mixup: Some(0.2), augment: Some("crop=0.5".parse().unwrap()), ..plain() },
            "mixup = 0.2: only sequences of one length can be mixed",
        ),
        (Recipe { teacher_weight: Some(0.5), ..plain() }, "teacher-weight = 0.5: there is no teacher"),
        (
            Recipe { teacher_temperature: Some(0.0), teacher: Some("t".into()), ..plain() },
            "teacher-temperature = 0: it must be between 0.01 and 1000",
        ),
        (Recipe { epoch_draws: Some(0), ..plain() }, "epoch-draws = 0: it must be at least 1"),
        (
            Recipe { class_share: Some("marvin=0.2".parse().unwrap()), ..plain() },
            "class-share names the class 'marvin'; the training data has class 0, class 1",
        ),
        (
            Recipe { initial_state: Some(fastgrnn::train::InitialState::Given(vec![f32::NAN])), ..plain() },
            "initial-state",
        ),
        (
            Recipe { schedule: Some(Schedule::Step), decay_every: Some(1e-3), ..plain() },
            "decay-every = 0.001: the learning rate would fall at every step",
        ),
        (Recipe { loss: Some(fastgrnn::engine::Loss::SquaredError), ..plain() }, "loss squared-error"),
    ] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} should say {message:?}");
    }
    let positive = Recipe { positive: Some("class 1".into()), ..plain() };
    for data in [classes(60, 3, 5), numbers(40)] {
        let error = positive.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Unused { key: "positive", .. }), "{error}");
    }
    let smooth = Recipe { label_smoothing: Some(0.1), ..plain() };
    assert!(matches!(smooth.resolve(&numbers(40)), Err(ConfigError::Unused { key: "label-smoothing", .. })));
    let softmax = Recipe { loss: Some(fastgrnn::engine::Loss::SoftmaxCrossEntropy), ..plain() };
    assert!(matches!(softmax.resolve(&numbers(40)), Err(ConfigError::Loss { .. })));
}

#[test]
fn data_that_cannot_be_trained_on_is_named() {
    use fastgrnn::data::{Examples, Labels, Sequences};
    let with = |train: Examples| Dataset { train, test: None, ..classes(10, 2, 5) };
    let say = |data: &Dataset| plain().resolve(data).unwrap_err().to_string();
    assert!(say(&with(Examples::new(Sequences::new(1), Labels::None))).contains("0 training sequences"));
    let mut x = Sequences::new(1);
    (0..4).for_each(|_| x.push(&[0.0]));
    assert!(say(&with(Examples::new(x.clone(), Labels::None))).contains("--label-col"));
    let names = vec!["a".to_string(), "b".to_string()];
    let out_of_range = Labels::Class { index: vec![0, 1, 2, 0], names: names.clone() };
    assert!(say(&with(Examples::new(x.clone(), out_of_range))).contains("class 2 is out of range"));
    let too_few = Labels::Class { index: vec![0, 1], names };
    assert!(say(&with(Examples::new(x.clone(), too_few))).contains("2 labels for 4 sequences"));
    let infinite = Labels::Value { width: 1, values: vec![0.0, 1.0, f32::INFINITY, 2.0] };
    assert!(say(&with(Examples::new(x.clone(), infinite))).contains("inf is not finite"));
    x.push(&[]);
    let empty = Labels::Value { width: 1, values: vec![0.0; 5] };
    assert!(say(&with(Examples::new(x, empty))).contains("sequence 4 of the training set has no time steps"));
}

#[cfg(feature = "clap")]
mod flags {
    use clap::{Args, Command, FromArgMatches};
    use fastgrnn::train::{Rank, Recipe};

    fn parse(line: &str) -> Result<Recipe, clap::Error> {
        let command = Recipe::augment_args(Command::new("train"));
        command
            .try_get_matches_from(["train"].into_iter().chain(line.split_whitespace()))
            .and_then(|matches| Recipe::from_arg_matches(&matches))
    }

    #[test]
    fn every_key_is_a_flag_with_help() {
        let command = Recipe::augment_args(Command::new("train"));
        for key in Recipe::keys() {
            let argument = command.get_arguments().find(|a| a.get_long() == Some(&key));
            assert!(argument.is_some_and(|a| a.get_help().is_some()), "{key}");
        }
    }

    #[test]
    fn flags_read_the_same_values_as_files() {
        let flags = parse(
            "--dataset har2 --cell fastrnn --hidden 80 --rank-w 5 --rank-u full --beta tied --val-group \
             --augment rotate=0.25,scale=0.1 --axes 0-2,3-5 --columns x,y --initial-state -0.5,1 --early-stop 3 \
             --lr 1e-3 --gate quantSigm --refit best-epochs --input-lsb -1,0.5",
        )
        .unwrap();
        let file = Recipe::from_toml_str(
            r#"
            dataset = "har2"
            cell = "fastrnn"
            hidden = 80
            rank-w = 5
            rank-u = "full"
            beta = "tied"
            val-group = true
            augment = { rotate = 0.25, scale = 0.1 }
            axes = "0-2,3-5"
            columns = ["x", "y"]
            initial-state = [-0.5, 1.0]
            early-stop = 3
            lr = 1e-3
            gate = "quantSigm"
            refit = "best-epochs"
            input-lsb = [-1, 0.5]
            "#,
            "r.toml",
        )
        .unwrap();
        assert_eq!(flags, file);
        assert_eq!(flags.rank_u, Some(Rank::Full));
        assert_eq!(parse("--val-group=false").unwrap().val_group, Some(false));
        assert_eq!(parse("").unwrap(), Recipe::default());
    }

    #[test]
    fn a_wrong_flag_value_lists_the_right_ones() {
        let error = parse("--cell grru").unwrap_err().to_string();
        assert!(error.contains("fastrnn-vector") && error.contains("gru"), "{error}");
        assert!(parse("--augment rotat=1").unwrap_err().to_string().contains("rotat"));
        assert!(parse("--rank-w many").unwrap_err().to_string().contains("many"));
    }
}
