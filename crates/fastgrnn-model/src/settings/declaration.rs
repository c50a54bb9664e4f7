//! The declaration of the keys: help text, type, default and range of each.

use super::{
    AugmentSetting, Axes, ClassShare, ClassWeight, FormSetting, InputLayer, Numbers, Optimizer, Rank,
    ReadoutSetting, RecurrentForm, Refit, ScalarSetting, Schedule, Stages,
};
use fastgrnn_core::cells::{CellKind, Nonlinearity, Start, WeightBits};
use fastgrnn_core::net::{InitialState, Loss, MAX_LAYERS};
use fastgrnn_core::settings;
use fastgrnn_core::settings::{Holds, MAX_COUNT, above, holds};
use fastgrnn_data::data::{CrossValidation, Normalize};
use std::path::PathBuf;

/// Share of the validation part, unless the data set has one of its own.
pub const VAL_SPLIT: f64 = 0.2;
/// Momentum of `nesterov`, first moment of `adam`.
pub const MOMENTUM: f64 = 0.9;
/// Share of the teacher in the loss.
pub const TEACHER_WEIGHT: f64 = 0.5;
/// Temperature at which student and teacher are compared.
pub const TEACHER_TEMPERATURE: f64 = 1.0;
/// Least parameter of mixup that has an effect, and the largest that makes sense: beyond it all
/// sequences are mixed half and half.
const MIXUP: std::ops::RangeInclusive<f64> = 0.01..=1000.0;
/// Steps through which a language model is trained at a time.
pub const SEQUENCE_LENGTH: usize = 300;
/// Epochs without a lower validation loss that make a plateau, if none are given.
pub const PLATEAU_EPOCHS: usize = 3;
/// Factor of the learning rate at a plateau, if none is given.
pub const PLATEAU_FACTOR: f64 = 0.5;
/// Most units of a layer.
pub const MAX_HIDDEN: usize = 1 << 16;
/// Most seeds of a run.
const MAX_SEEDS: usize = 10_000;

/// Training computes in f32, where 1e39 is infinite.
fn is_not_negative() -> Holds<f64> {
    holds(|v| *v >= 0.0 && (*v as f32).is_finite(), "a number that is not negative")
}

/// The share of the entries of a matrix that are kept.
fn is_kept_share() -> Holds<f64> {
    holds(|v| *v > 0.0 && *v <= 1.0, "the fraction to keep, above 0 and at most 1")
}

/// The bits of a bias.
fn is_bias_bits() -> Holds<usize> {
    holds(|bits| matches!(bits, 8 | 16), "8 or 16")
}

settings! {
    /// How sequences are prepared for training and validation.
    "Preparation", PreparationRecipe => PreparationConfig {
        /// Which values are scaled to mean 0 and deviation 1 together
        normalize: Normalize = constant(Normalize::PerFeature);
        /// Columns that are the x, y and z axis of one sensor, such as 0-2,3-5
        axes: Axes = derived("those of a known data set, else none"), value("A-B,…");
        /// Random changes of the training sequences, such as rotate=0.25,scale=0.1,noise=0.05,shift=3,crop=0.9,pixel-shift=2, or none; for sound also gain, background (with snr-low and snr-high), freq-masks, freq-width, time-masks, time-width, lead-in and audio-copies
        augment: AugmentSetting = derived("rotate=0.25,scale=0.1 if there are axes, else none"), value("NAME=VALUE,…");
        /// Share of the training data that is used for validation; 0 for none
        val_split: f64 = derived("0.2, or 0.1 for language models; the validation part of the data set if it has one"), value("SHARE"), range(0.0..1.0);
        /// Cross-validation: choose the epoch on this many folds of the training data, then train again on all of it
        cv: CrossValidation = derived("5 below 500 training sequences, unless val-split, patience or refit is given or the data set has a validation part; else off"), value("N|leave-one-group-out|off");
        /// Keep groups whole when the validation data is chosen
        val_group: bool = derived("true if the data has groups");
        /// Seed of the choice of the validation data, which all seeds of a run share
        split_seed: u64 = constant(0), value("S"), range(0..=i64::MAX as u64);
    }
}

settings! {
    /// The shape of the network.
    "Network", NetworkRecipe => NetworkConfig {
        /// Recurrent cell
        cell: CellKind = constant(CellKind::FastGrnn);
        /// Units of the state of a layer
        hidden: usize = derived("16 to 64, by the number of sequences; fewer if limits are given"), value("N"), range(1..=MAX_HIDDEN);
        /// Rank of the input matrix W, or full
        rank_w: Rank = constant(Rank::Full), value("N|full");
        /// Rank of the recurrent matrix U, or full
        rank_u: Rank = constant(Rank::Full), value("N|full");
        /// Form of the input matrix W; diagonal needs as many units as features
        form_w: FormSetting = constant(FormSetting::Full);
        /// Form of the recurrent matrix U
        form_u: RecurrentForm = derived("full; rotations for the cell eurnn, none for cells without this matrix");
        /// Reflections that make an orthogonal U, for form-u reflections or spectral
        reflections: usize = optional("as many as units; for spectral at most 16"), value("N"), range(1..=MAX_HIDDEN);
        /// Layers of rotations that make a unitary U, for form-u rotations; half as many as units reach every unitary matrix
        rotations: usize = optional("8, at most half as many as units"), value("N"), range(1..=MAX_HIDDEN);
        /// How far singular values of U may lie from 1, for form-u spectral or factored
        spectral_margin: f64 = optional("0.1"), value("X"), range(0.0..1.0);
        /// A layer before the cells that reads the last frames of the input together, so that there is one step for every STRIDE frames: frames, stride (1 if left out), units, activation (relu if left out); for an input of numbers
        input_layer: InputLayer = optional("none: a step for each frame"), value("frames=N,stride=N,units=N,activation=NAME");
        /// Layers of cells
        layers: usize = constant(1), value("N"), range(1..=MAX_LAYERS);
        /// What the head reads of each sequence: its last state, or the mean or the largest values of all states
        readout: ReadoutSetting = constant(ReadoutSetting::Last);
        /// Numbers of the vector of a token, for texts
        embedding: usize = optional("as many as units"), value("N"), range(1..=MAX_HIDDEN);
        /// Use the vectors of the tokens as the matrix of the head of a language model, too
        tied: bool = optional("true if the vectors have as many numbers as there are units");
        /// Nonlinearity of the gates
        gate: Nonlinearity = derived("that of the cell: sigmoid");
        /// Learn a gain for each unit's gate of a fastgrnn; it is then the cell fastgrnn-gain
        gate_gain: bool = optional("only with the cell fastgrnn-gain");
        /// Nonlinearity of the update
        update: Nonlinearity = derived("that of the cell: tanh for most");
    }
}

settings! {
    /// Which parameters are learnt, and where they and the state start.
    "Network", ParameterRecipe => ParameterConfig {
        /// Alpha of FastRNN: learnt, or a fixed number
        alpha: ScalarSetting = constant(ScalarSetting::default()), value("learnt|X");
        /// Beta of FastRNN: learnt, tied (to 1 - alpha), or a fixed number
        beta: ScalarSetting = constant(ScalarSetting::default()), value("learnt|tied|X");
        /// Zeta of FastGRNN: learnt, or a fixed number
        zeta: ScalarSetting = constant(ScalarSetting::default()), value("learnt|X");
        /// Nu of FastGRNN: learnt, or a fixed number
        nu: ScalarSetting = constant(ScalarSetting::default()), value("learnt|X");
        /// Initial parameters: those of the paper's code, or gates that start slow in proportion to the length of the sequences
        start: Start = constant(Start::default());
        /// Text file of GloVe or word2vec from which the vectors of known tokens start; the other tokens start at random
        word_vectors: PathBuf = optional, value("FILE"), local;
        /// State before the first time step: zero, random, or numbers such as 0.1,-0.2
        initial_state: InitialState = constant(InitialState::Zero), value("zero|random|X,…");
    }
}

settings! {
    /// How many entries of the matrices are kept.
    "Compression", SparsityRecipe => SparsityConfig {
        /// Fraction of the entries to keep in the input matrix W, or in each of its factors
        keep_w: f64 = constant(1.0), value("FRACTION"), range(is_kept_share());
        /// Fraction of the entries to keep in the recurrent matrix U, or in each of its factors
        keep_u: f64 = constant(1.0), value("FRACTION"), range(is_kept_share());
        /// Fraction of the entries to keep in the matrix of the head
        keep_head: f64 = constant(1.0), value("FRACTION"), range(is_kept_share());
    }
}

settings! {
    /// Whether and how the model becomes an integer model.
    "Compression", QuantizationRecipe => QuantizationConfig {
        /// Also deliver a model that computes with integers only
        quantize: bool = derived("false, or true if limits are given");
        /// Bits of an entry of the input matrix W, or of its factors, in the integer model; with 4 each matrix has a step that training learns
        bits_w: WeightBits = constant(WeightBits::Eight), value("8|4");
        /// Bits of an entry of the recurrent matrix U, or of its factors, in the integer model
        bits_u: WeightBits = constant(WeightBits::Eight), value("8|4");
        /// Bits of an entry of the matrix of the head in the integer model
        bits_head: WeightBits = constant(WeightBits::Eight), value("8|4");
        /// Bits of a bias in the integer model
        bits_bias: usize = derived("8 if a matrix has 4 bits, else 16"), value("8|16"), range(is_bias_bits());
        /// Value of one count of the sensor in the units of the data: one number, or one for each feature
        input_lsb: Numbers = optional("chosen from the training data"), value("X,…");
    }
}

settings! {
    /// How the network is trained.
    "Training", TrainingRecipe => TrainingConfig {
        /// Stages of the run as KIND:SHARE of its batches; kinds are dense, project (with every=N batches, gradual, keep=X), frozen and quantized
        stages: Stages = derived("dense:1; with a keep-… below 1 dense:1/3,project:1/3:every=15,frozen:1/3; with quantize the last 1/6 is quantized, or with a bits-… of 4 the last 2/3, except for rsg"), value("KIND:SHARE,…");
        /// Passes over the training data
        epochs: usize = derived("about 8,000 optimiser steps, 30 to 200 epochs; more for few sequences, fewer if two cores would need more than ten minutes"), value("N"), range(1..=MAX_COUNT);
        /// Sequences in an optimiser step
        batch: usize = derived("100, at most a quarter of the training data; 4 for language models"), value("N"), range(1..=MAX_COUNT);
        /// Learning rate
        lr: f64 = derived("0.003 for adam and adamw (0.005 for language models, 0.001 with the cell rnn), 0.05 for nesterov, 0.1 for sgd, asgd and rsg"), value("X"),
            range(holds(|v: &f64| *v as f32 > 0.0 && (*v as f32).is_finite(), "a number above 0 that an f32 can hold"));
        /// Optimiser
        optimizer: Optimizer = derived("adam, or adamw for language models");
        /// How the learning rate falls during the run
        schedule: Schedule = constant(Schedule::Cosine);
        /// Epochs between two reductions of the learning rate, for the schedules step and halving
        decay_every: f64 = optional("two thirds of the run for step, a quarter for halving"), value("EPOCHS"), range(above(0.0, f64::MAX));
        /// Epochs without a lower validation loss that make a plateau, for the schedule plateau and the optimiser asgd
        plateau_epochs: usize = assumed(PLATEAU_EPOCHS), value("EPOCHS"), range(1..=MAX_COUNT);
        /// Factor of the learning rate at a plateau, for the schedule plateau
        plateau_factor: f64 = assumed(PLATEAU_FACTOR), value("X"), range(holds(|v: &f64| *v > 0.0 && *v < 1.0, "above 0 and below 1"));
        /// Share of the run during which the learning rate rises from 0
        warmup: f64 = constant(0.03), value("SHARE"), range(0.0..1.0);
        /// Momentum of nesterov, first moment of adam
        momentum: f64 = constant(MOMENTUM), value("X"), range(0.0..1.0);
        /// Weight decay of the matrices; biases have none
        weight_decay: f64 = derived("0.0001, or 0.01 for language models"), value("X"), range(is_not_negative());
        /// Time steps of a text that a language model learns from at a time; the state is carried on to the next ones
        sequence_length: usize = assumed(SEQUENCE_LENGTH), value("STEPS"), range(1..=MAX_COUNT);
        /// Share of the tokens whose vectors are set to zero in a training step
        embedding_dropout: f64 = assumed(0.0), value("SHARE"), range(0.0..1.0);
        /// Share of the features, or of the entries of the vectors of tokens, that are set to zero
        input_dropout: f64 = optional("0; for language models 0.5 below 400,000 tokens, else 0.2"), value("SHARE"), range(0.0..1.0);
        /// Share of the states that are set to zero on the way to the next layer
        layer_dropout: f64 = assumed(0.0), value("SHARE"), range(0.0..1.0);
        /// Share of the states that are set to zero on the way to the head
        output_dropout: f64 = optional("0; for language models 0.5 below 400,000 tokens, else 0.3"), value("SHARE"), range(0.0..1.0);
        /// Drop the same entries at all time steps of a sequence, instead of others at each
        variational: bool = assumed(true);
        /// Share of the entries of the recurrent matrix U, or of its factors, that are set to zero in a training step
        weight_drop: f64 = optional("0, or 0.1 for language models"), value("SHARE"), range(0.0..1.0);
        /// Penalty on large states: factor of the mean square of the states that the head reads
        activation_penalty: f64 = optional("0, or 2 for language models"), value("X"), range(is_not_negative());
        /// Penalty on changing states: factor of the mean square of the changes of the last layer's state from step to step
        temporal_penalty: f64 = optional("0, or 1 for language models"), value("X"), range(is_not_negative());
        /// Largest norm of a gradient; 0 for no limit
        clip: f64 = derived("1, or 0.25 for language models; 0 for rsg"), value("X"), range(is_not_negative());
        /// Loss
        loss: Loss = derived("softmax-cross-entropy for classes, squared-error for numbers");
        /// Also apply the loss at N earlier time steps (predictions still use the last one)
        extra_loss_steps: usize = constant(0), value("N"), range(0..=MAX_COUNT);
        /// Time steps between two of these
        extra_loss_stride: usize = constant(4), value("STEPS"), range(1..=MAX_COUNT);
        /// For the positive class, apply the loss at the last time step only
        positive_last_step_only: bool = constant(false);
        /// Weight of the classes in the loss; balanced also chooses the epoch by mean F1 instead of accuracy
        class_weight: ClassWeight = constant(ClassWeight::None);
        /// The class of two that is to be detected: validation chooses the epoch by its F1, and the best threshold
        positive: String = optional("the word of a known wake-word set, else none"), value("CLASS");
        /// Share of an epoch that is drawn from a class, such as marvin=0.25, or from each of several; the other classes keep their proportions
        class_share: ClassShare = optional("the proportions of the data"), value("CLASS=SHARE,…");
        /// Sequences of an epoch; a class is repeated only after all its sequences were used
        epoch_draws: usize = optional("all training sequences"), value("N"), range(1..=MAX_COUNT);
        /// Label smoothing: share of each target that is divided among all classes
        label_smoothing: f64 = assumed(0.0), value("SHARE"), range(0.0..1.0);
        /// Mixup: mix each sequence and its target with another of the batch, in proportions from the beta distribution with this parameter; 0 for none
        mixup: f64 = assumed(0.0), value("ALPHA"), range(holds(|v| *v == 0.0 || MIXUP.contains(v), "0, or between 0.01 and 1000"));
        /// Trained float model with the same features and classes, of any cell, whose probabilities are learnt besides the labels
        teacher: PathBuf = optional, value("MODEL"), local;
        /// Share of the teacher in the loss
        teacher_weight: f64 = assumed(TEACHER_WEIGHT), value("SHARE"), range(0.0..=1.0);
        /// Temperature of the comparison with the teacher; higher values give more weight to the less likely classes
        teacher_temperature: f64 = assumed(TEACHER_TEMPERATURE), value("X"), range(0.01..=1000.0);
        /// Decay of a moving average of the parameters, such as 0.999, which validation and the result use; 0 for none
        ema: f64 = assumed(0.0), value("DECAY"), range(0.0..1.0);
        /// Stop after this many epochs without a better validation; 0 for never
        patience: usize = constant(0), value("EPOCHS"), range(0..=MAX_COUNT), alias("early-stop");
        /// Train again on all training data after validation has chosen an epoch
        refit: Refit = derived("none, or best-epochs with cv");
        /// First seed
        seed: u64 = constant(0), value("S"), range(0..=i64::MAX as u64);
        /// Number of seeds to train
        seeds: usize = constant(1), value("N"), range(1..=MAX_SEEDS);
        /// Seconds between checkpoints; 0 for one after every epoch
        checkpoint_every: f64 = constant(10.0), value("SECONDS"), range(is_not_negative()), local;
    }
}
