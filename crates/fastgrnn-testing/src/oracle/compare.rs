//! The runtime beside the oracle.

use super::compute::{Cut, Cuts, NetworkOracle};
use super::image::write;
use super::random::Case;
use super::score;
use fastgrnn_runtime::int::{Decision, Model, Place, State, Watch};

/// Counts what the runtime tells of, as the oracle does.
#[derive(Default)]
pub struct Counter(pub Cuts);

impl Watch for Counter {
    fn saturated(&mut self, layer: usize, place: Place) {
        let cut = match place {
            Place::Input => Cut::Input,
            Place::ProjectedW => Cut::ProjectedW,
            Place::ProjectedU => Cut::ProjectedU,
            Place::Recurrent => Cut::Recurrent,
            Place::Update => Cut::Update,
            Place::Memory => Cut::Memory,
            Place::State => Cut::State,
        };
        *self.0.entry((layer, cut)).or_default() += 1;
    }
}

/// Buffers that a model asks for, filled with what must not matter.
pub fn buffers(model: &Model<'_, 3>) -> (Vec<i16>, Vec<i32>) {
    (vec![-12345; model.memory_len()], vec![-987_654_321; model.scratch_len()])
}

pub fn scores(model: &Model<'_, 3>, state: &State<'_>) -> Vec<i32> {
    let mut scores = vec![i32::MIN; model.outputs()];
    model.scores(state, &mut scores).expect("the model said how many scores there are");
    scores
}

/// Runs a case on both and compares states after every step, scores, class, confidence and
/// saturations. Gives the saturations.
#[track_caller]
pub fn agree(case: &Case) -> Cuts {
    let image = write(&case.network, &case.forms);
    agree_on(&image, case)
}

/// [`agree`], for an image that holds the case's network in whatever forms.
#[track_caller]
pub fn agree_on(image: &[u8], case: &Case) -> Cuts {
    let network = &case.network;
    let model = Model::<3>::read(image).expect("the image keeps all rules");
    let (mut memory, mut scratch) = buffers(&model);
    let mut state = model.start(&mut memory, &mut scratch).expect("the model said what it needs");
    let mut oracle = NetworkOracle::new(network);
    let mut counter = Counter::default();
    for (t, counts) in case.inputs.iter().enumerate() {
        let is_step = oracle.step(counts);
        let found = model.step_watched(&mut state, counts, &mut counter).expect("a frame has D counts");
        assert_eq!(found, is_step, "whether frame {t} was a step");
        for layer in 0..network.layers.len() {
            let found: Vec<i64> = model.layer_state(&state, layer).iter().map(|h| i64::from(*h)).collect();
            assert_eq!(found, oracle.state(layer), "state of layer {layer} after step {t}");
        }
        assert_eq!(counter.0, oracle.cuts, "saturations up to step {t}");
        let (found, expected) = (scores(&model, &state), oracle.scores());
        assert!(
            found.iter().map(|score| i64::from(*score)).eq(expected.iter().copied()),
            "scores of step {t}"
        );
        assert_eq!(model.decide(&found), decision(case, &expected), "decision of step {t}");
    }
    counter.0
}

fn decision(case: &Case, scores: &[i64]) -> Decision {
    let (meaning, f_s) = (case.network.meaning, case.network.head.f_s);
    Decision { class: score::class(meaning, scores), confidence: score::confidence(meaning, f_s, scores) }
}
