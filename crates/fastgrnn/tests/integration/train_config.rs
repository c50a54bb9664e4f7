//! Recipes, their defaults, and what is refused.

use crate::common::{classes, numbers, recipe};
use fastgrnn::data::{CrossValidation, Dataset};
use fastgrnn::train::{
    AugmentSetting, Axes, Config, ConfigError, FormSetting, Optimizer, Rank, Recipe, RecurrentForm, Schedule,
};

fn plain() -> Recipe {
    Recipe::default().with(|r| r.source.dataset = Some("generated".into()))
}

fn resolved(recipe: Recipe, data: &Dataset) -> Config {
    recipe.resolve(data).unwrap()
}

#[test]
fn defaults_grow_with_the_data() {
    for (n, hidden) in [(40, 16), (400, 32), (4_000, 64)] {
        let config = resolved(plain(), &classes(n, 2, 5));
        assert_eq!(config.network.hidden, hidden);
        assert!(config.training.batch <= n / 4 && config.training.batch <= 100);
        let steps = config.training.epochs * (n * 4 / 5).div_ceil(config.training.batch);
        assert!(steps >= 2_000, "{n} sequences get {steps} steps");
    }
}

#[test]
fn defaults_for_long_sequences_stay_affordable() {
    let short = resolved(plain(), &classes(2_000, 2, 10));
    let long = resolved(plain().with(|r| r.network.hidden = Some(512)), &classes(2_000, 2, 1_000));
    assert!(
        long.training.epochs < short.training.epochs && long.training.epochs >= 1,
        "{} {}",
        long.training.epochs,
        short.training.epochs
    );
}

#[test]
fn a_plain_rnn_and_plain_gradient_descent_have_their_own_learning_rates() {
    let data = classes(40, 2, 5);
    let lr = |recipe: Recipe| resolved(recipe, &data).training.lr;
    assert_eq!(lr(plain()), 0.003);
    assert_eq!(lr(plain().with(|r| r.network.cell = Some(fastgrnn::cells::CellKind::Rnn))), 0.001);
    assert_eq!(lr(plain().with(|r| r.training.optimizer = Some(Optimizer::Sgd))), 0.1);
}

#[test]
fn groups_are_kept_whole_by_default_where_that_is_possible() {
    let mut data = classes(60, 2, 5);
    assert!(!resolved(plain(), &data).preparation.val_group);
    data.train.group = Some((0..60).map(|i| i / 10).collect());
    assert!(resolved(plain(), &data).preparation.val_group);
    assert!(!resolved(plain().with(|r| r.preparation.val_group = Some(false)), &data).preparation.val_group);
    data.train.group = Some((0..60).map(|i| i % 2).collect());
    for seeds in [1, 3] {
        let error = plain().with(|r| r.training.seeds = Some(seeds)).resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Split { .. }), "each class is one group: {error}");
        assert!(error.to_string().contains("`val-group = false`"), "{error}");
    }
    assert!(!resolved(plain().with(|r| r.preparation.val_group = Some(false)), &data).preparation.val_group);
}

#[test]
fn settings_that_nothing_would_read_are_refused() {
    use fastgrnn::cells::{CellKind, Nonlinearity};
    let data = classes(60, 2, 5);
    let fixed = Some("0.5".parse().unwrap());
    let validated = || plain().with(|r| r.preparation.cv = Some(CrossValidation::Off));
    for (recipe, message) in [
        (plain().with(|r| r.parameters.alpha = fixed), "alpha = 0.5: a fastgrnn has no alpha"),
        (
            plain().with(|r| {
                r.parameters.zeta = fixed;
                r.network.cell = Some(CellKind::Gru);
            }),
            "the `cell` fastrnn-vector or fastgrnn",
        ),
        (
            plain().with(|r| {
                r.network.gate = Some(Nonlinearity::Relu);
                r.network.cell = Some(CellKind::FastRnn);
            }),
            "gate = relu: a fastrnn has no gate",
        ),
        (
            plain().with(|r| r.training.decay_every = Some(3.0)),
            "decay-every = 3: the cosine schedule has no steps",
        ),
        (
            plain().with(|r| {
                r.training.momentum = Some(0.5);
                r.training.optimizer = Some(Optimizer::Sgd);
            }),
            "momentum = 0.5: sgd has no momentum",
        ),
        (
            plain().with(|r| r.training.plateau_epochs = Some(2)),
            "plateau-epochs = 2: nothing depends on plateaus",
        ),
        (
            validated().with(|r| {
                r.training.optimizer = Some(Optimizer::Asgd);
                r.training.plateau_factor = Some(0.25);
            }),
            "plateau-factor = 0.25: the learning rate does not depend on plateaus",
        ),
        (
            validated().with(|r| {
                r.training.optimizer = Some(Optimizer::Asgd);
                r.training.ema = Some(0.9);
            }),
            "ema = 0.9: asgd has an average of its own",
        ),
    ] {
        let error = recipe.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Unused { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    for cell in [CellKind::Rnn, CellKind::FastRnn, CellKind::Gru] {
        let config = resolved(plain().with(|r| r.network.cell = Some(cell)), &data);
        let written = Recipe::from_toml_str(&config.to_toml(), "config.toml").unwrap();
        assert_eq!(resolved(written, &data), config, "written defaults may stand");
    }
}

#[test]
fn epochs_cut_below_the_fewest_steps_are_noted() {
    let (short, long) = (classes(200, 2, 5), classes(200, 2, 2_000));
    let big = plain().with(|r| r.network.hidden = Some(2_048));
    assert!(plain().notes(&resolved(plain(), &short), &short).is_empty());
    let notes = big.notes(&resolved(big.clone(), &long), &long);
    assert!(notes.len() == 1 && notes[0].contains("`epochs = "), "{notes:?}");
    let chosen = big.with(|r| r.training.epochs = Some(1));
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
    let recipe = plain().with(|r| {
        r.network.hidden = Some(64);
        r.training.batch = Some(4);
        r.training.epochs = Some(1);
    });
    let config = resolved(recipe, &data);
    let error = config.check_memory(&data, 2).unwrap_err().to_string();
    assert!(error.contains("4000000 steps") && error.contains("`window`"), "{error}");
    resolved(plain(), &classes(60, 2, 784)).check_memory(&classes(60, 2, 784), 64).unwrap();
}

#[test]
fn a_recipe_without_a_data_set_takes_the_name_of_the_data() {
    assert_eq!(resolved(Recipe::default(), &classes(60, 2, 5)).source.dataset, "generated");
}

#[test]
fn named_axes_turn_augmentation_on_and_nothing_else_does() {
    let mut data = classes(60, 2, 5);
    assert_eq!(resolved(plain(), &data).preparation.augment, AugmentSetting::none());
    let error =
        plain().with(|r| r.preparation.axes = Some(Axes(vec![[0, 1, 2]]))).resolve(&data).unwrap_err();
    assert!(error.to_string().contains("no column 2"), "{error}");
    data.train.x = three_axes(60);
    data.test = None;
    let config = resolved(plain().with(|r| r.preparation.axes = Some(Axes(vec![[0, 1, 2]]))), &data);
    assert_eq!((config.preparation.augment.rotate, config.preparation.augment.scale), (0.25, 0.1));
    data.suggested.axes = vec![[0, 1, 2]];
    assert_eq!(resolved(plain(), &data).preparation.augment.rotate, 0.25);
    let off = plain().with(|r| r.preparation.augment = Some(AugmentSetting::none()));
    assert_eq!(resolved(off, &data).preparation.augment, AugmentSetting::none());
}

fn three_axes(n: usize) -> fastgrnn::data::Sequences {
    let mut x = fastgrnn::data::Sequences::new(3);
    (0..n).for_each(|i| x.push(&[i as f32; 12]));
    x
}

#[test]
fn falling_schedules_fall_by_the_papers_habit() {
    let data = classes(60, 2, 5);
    let of = |schedule| {
        plain().with(|r| {
            r.training.schedule = Some(schedule);
            r.training.epochs = Some(300);
        })
    };
    assert_eq!(resolved(of(Schedule::Step), &data).training.decay_every, Some(200.0));
    assert_eq!(resolved(of(Schedule::Halving), &data).training.decay_every, Some(75.0));
    assert_eq!(resolved(of(Schedule::Cosine), &data).training.decay_every, None);
}

#[test]
fn a_gate_gain_is_another_name_of_the_cell_that_has_one() {
    use fastgrnn::cells::CellKind::{FastGrnn, FastGrnnGain, Gru};
    let data = classes(60, 2, 5);
    let of = |cell, gate_gain| plain().with(|r| (r.network.cell, r.network.gate_gain) = (cell, gate_gain));
    let named = resolved(of(Some(FastGrnnGain), None), &data);
    for cell in [None, Some(FastGrnn), Some(FastGrnnGain)] {
        assert_eq!(resolved(of(cell, Some(true)), &data), named, "{cell:?}");
    }
    assert_eq!((named.network.cell, named.network.gate_gain), (FastGrnnGain, None));
    assert_eq!(resolved(of(None, Some(false)), &data), resolved(of(None, None), &data));
    // A run that is resumed reads its settings back and may be given the same flags again.
    let stored = Recipe::from_toml_str(&named.to_toml(), "config.toml").unwrap();
    for again in [Recipe::default(), of(Some(FastGrnn), Some(true)), of(None, Some(true))] {
        assert_eq!(resolved(stored.clone().overlay(again), &data), named);
    }
    for (recipe, message) in [
        (of(Some(Gru), Some(true)), "gate-gain = true: a gru has no gain for its gate"),
        (of(Some(FastGrnnGain), Some(false)), "gate-gain = false: a fastgrnn-gain has a gain for each unit"),
    ] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("`cell` fastgrnn"), "{error}");
    }
}

#[test]
fn every_key_of_a_configuration_is_a_key_of_a_recipe() {
    let config = resolved(recipe(), &classes(60, 2, 5));
    let table: toml::Table = toml::from_str(&config.to_toml()).unwrap();
    let keys: Vec<String> = Recipe::keys().iter().map(|key| key.name().to_owned()).collect();
    assert!(table.keys().all(|key| keys.contains(key)));
    // A configuration has a value for every key that is not optional.
    let again = Recipe::from_toml_str(&config.to_toml(), "config.toml").unwrap();
    assert_eq!(again.clone().complete().unwrap(), config);
    assert_eq!(again.with_defaults().complete().unwrap(), config, "no default is left to fill in");
}

#[test]
fn a_model_file_carries_no_paths() {
    let data = classes(60, 2, 5);
    let recipe = recipe().with(|r| {
        r.source.dataset = Some("/secret/place".into());
        r.source.test = Some("/secret/test".into());
        r.training.teacher = Some("/secret/teacher".into());
    });
    let portable = serde_json::to_string(&resolved(recipe, &data).portable()).unwrap();
    assert!(!portable.contains("secret"), "{portable}");
}

#[test]
fn values_out_of_range_are_named_with_their_key() {
    let data = classes(60, 2, 5);
    for (recipe, message) in [
        (plain().with(|r| r.training.lr = Some(0.0)), "lr = 0: it must be a number above 0"),
        (plain().with(|r| r.training.lr = Some(f64::NAN)), "lr = NaN"),
        (plain().with(|r| r.training.epochs = Some(0)), "epochs = 0: it must be between 1 and 2147483647"),
        (plain().with(|r| r.training.batch = Some(0)), "batch = 0"),
        (plain().with(|r| r.training.seeds = Some(0)), "seeds = 0"),
        (plain().with(|r| r.preparation.val_split = Some(1.0)), "val-split = 1"),
        (plain().with(|r| r.training.momentum = Some(1.0)), "momentum = 1"),
        (plain().with(|r| r.training.clip = Some(-1.0)), "clip = -1"),
        (plain().with(|r| r.network.hidden = Some(0)), "hidden = 0: it must be between 1 and 65536"),
        (plain().with(|r| r.network.hidden = Some(usize::MAX)), "hidden = 18446744073709551615"),
        (plain().with(|r| r.network.hidden = Some(65_536)), "is too large; use a smaller `hidden`"),
        (plain().with(|r| r.network.layers = Some(0)), "layers = 0: it must be between 1 and 64"),
        (plain().with(|r| r.network.layers = Some(1_000_000)), "layers = 1000000"),
        (plain().with(|r| r.network.rank_w = Some(Rank::Of(3))), "rank-w 3 is larger than the"),
        (
            plain().with(|r| {
                r.network.rank_u = Some(Rank::Of(2));
                r.network.form_u = Some(RecurrentForm::Diagonal);
            }),
            "rank-u = 2: form-u = diagonal has no rank",
        ),
        (
            plain().with(|r| {
                r.sparsity.keep_u = Some(0.5);
                r.network.form_u = Some(RecurrentForm::None);
            }),
            "keep-u = 0.5: form-u = none is not pruned",
        ),
        (plain().with(|r| r.network.form_w = Some(FormSetting::None)), "a layer must read its input"),
        (
            plain().with(|r| r.network.form_w = Some(FormSetting::Diagonal)),
            "form-w diagonal needs as many units as",
        ),
        (plain().with(|r| r.training.seed = Some(u64::MAX)), "seed = 18446744073709551615"),
        (plain().with(|r| r.parameters.nu = Some("2".parse().unwrap())), "nu is fixed at 2"),
        (
            plain().with(|r| r.parameters.initial_state = Some("1,2,3".parse().unwrap())),
            "initial-state has 3 numbers",
        ),
        (
            plain().with(|r| {
                r.training.patience = Some(3);
                r.preparation.val_split = Some(0.0);
            }),
            "patience = 3",
        ),
        (plain().with(|r| r.preparation.augment = Some("rotate=0.2".parse().unwrap())), "`axes = 0-2,3-5`"),
        (plain().with(|r| r.training.lr = Some(1e39)), "lr = 1"),
        (
            plain().with(|r| r.training.epochs = Some(1 << 40)),
            "epochs = 1099511627776: it must be between 1 and",
        ),
        (plain().with(|r| r.data.window = Some(usize::MAX)), "window = 18446744073709551615"),
        (plain().with(|r| r.training.seeds = Some(1 << 20)), "seeds = 1048576"),
        (plain().with(|r| r.data.size_limit = Some(u64::MAX)), "size-limit = 18446744073709551615"),
        (
            plain().with(|r| r.training.positive = Some("marvin".into())),
            "positive names the class 'marvin'; the training data has class 0, class 1",
        ),
        (
            plain().with(|r| r.training.label_smoothing = Some(1.0)),
            "label-smoothing = 1: it must be at least 0 and",
        ),
        (plain().with(|r| r.training.ema = Some(1.0)), "ema = 1: it must be at least 0 and below 1"),
        (plain().with(|r| r.training.plateau_factor = Some(1.0)), "plateau-factor = 1: it must be above 0"),
        (
            plain().with(|r| {
                r.training.schedule = Some(Schedule::Plateau);
                r.preparation.val_split = Some(0.0);
            }),
            "schedule = plateau: plateaus need one validation part",
        ),
        (
            plain().with(|r| {
                r.training.optimizer = Some(Optimizer::Asgd);
                r.preparation.cv = Some(CrossValidation::Folds(3));
            }),
            "optimizer = asgd: plateaus need one validation part",
        ),
        (plain().with(|r| r.training.mixup = Some(-1.0)), "mixup = -1"),
        (
            plain().with(|r| {
                r.training.mixup = Some(0.2);
                r.preparation.augment = Some("crop=0.5".parse().unwrap());
            }),
            "mixup = 0.2: only sequences of one length can be mixed",
        ),
        (
            plain().with(|r| r.training.teacher_weight = Some(0.5)),
            "teacher-weight = 0.5: there is no teacher",
        ),
        (
            plain().with(|r| {
                r.training.teacher_temperature = Some(0.0);
                r.training.teacher = Some("t".into());
            }),
            "teacher-temperature = 0: it must be between 0.01 and 1000",
        ),
        (plain().with(|r| r.training.epoch_draws = Some(0)), "epoch-draws = 0: it must be between 1"),
        (
            plain().with(|r| r.training.class_share = Some("marvin=0.2".parse().unwrap())),
            "class-share names the class 'marvin'; the training data has class 0, class 1",
        ),
        (
            plain().with(|r| {
                r.parameters.initial_state = Some(fastgrnn::train::InitialState::Given(vec![f32::NAN]))
            }),
            "initial-state",
        ),
        (
            plain().with(|r| {
                r.training.schedule = Some(Schedule::Step);
                r.training.decay_every = Some(1e-3);
            }),
            "decay-every = 0.001: the learning rate would fall at every step",
        ),
        (
            plain().with(|r| r.training.loss = Some(fastgrnn::engine::Loss::SquaredError)),
            "loss squared-error",
        ),
    ] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} should say {message:?}");
    }
    let positive = plain().with(|r| r.training.positive = Some("class 1".into()));
    for data in [classes(60, 3, 5), numbers(40)] {
        let error = positive.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Unused { key: "positive", .. }), "{error}");
    }
    let smooth = plain().with(|r| r.training.label_smoothing = Some(0.1));
    assert!(matches!(smooth.resolve(&numbers(40)), Err(ConfigError::Unused { key: "label-smoothing", .. })));
    let softmax = plain().with(|r| r.training.loss = Some(fastgrnn::engine::Loss::SoftmaxCrossEntropy));
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
    assert!(say(&with(Examples::new(x.clone(), Labels::None))).contains("`label-col`"));
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
    use fastgrnn::train::{Rank, Recipe};
    use fastgrnn_core::settings::clap::{self, Args, Command, FromArgMatches};

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
            let argument = command.get_arguments().find(|a| a.get_long() == Some(key.name()));
            assert!(argument.is_some_and(|a| a.get_help().is_some()), "{key:?}");
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
        assert_eq!(flags.network.rank_u, Some(Rank::Full));
        assert_eq!(parse("--val-group=false").unwrap().preparation.val_group, Some(false));
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
