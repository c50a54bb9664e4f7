//! Networks that read the last frames through a window, with and without a projection below the cell.

use fastgrnn_core::batch::Batch;
use fastgrnn_core::cells::{Cell, CellKind, MatrixForm, Nonlinearity};
use fastgrnn_core::net::{Network, NetworkError, Readout};
use fastgrnn_core::window::Window;
use fastgrnn_engine::engine::{self, Engine, EngineError, Gradient, Loss};
use fastgrnn_engine::reference;
use fastgrnn_testing::networks::{LOSSES, ROUNDING_MARGIN, ReferenceStep, kinds, off_kinks, units, widen};

/// Features of a frame.
const FEATURES: usize = 3;

const WINDOWS: [Window; 5] = [
    Window { frames: 1, stride: 1 },
    Window { frames: 3, stride: 1 },
    Window { frames: 3, stride: 2 },
    Window { frames: 2, stride: 2 },
    Window { frames: 7, stride: 5 },
];

/// A projection of 5 units below a cell of another kind.
fn with_projection(kind: CellKind, window: Window, readout: Readout) -> Network {
    let projection = Cell::new(CellKind::Rnn, FEATURES * window.frames, 5)
        .with_forms(MatrixForm::Full, MatrixForm::Absent)
        .with_nonlinearities(Nonlinearity::Sigmoid, Nonlinearity::Relu);
    let layers = vec![projection, Cell::new(kind, 5, units(kind, 7))];
    let net = Network { window, readout, ..Network::new(layers, 3) };
    net.check().unwrap();
    net
}

/// What a network without a window would have to read.
fn stacked(batch: &Batch, net: &Network) -> Batch {
    let Window { frames, stride } = net.window;
    let mut to = Batch::new(net.step_input());
    for i in 0..batch.len() {
        let sequence = batch.sequence(i);
        let count = sequence.len() / FEATURES;
        let mut steps = Vec::new();
        for last in (stride - 1..count).step_by(stride) {
            for frame in (0..frames).rev() {
                match last.checked_sub(frame) {
                    Some(at) => steps.extend_from_slice(&sequence[at * FEATURES..][..FEATURES]),
                    None => steps.extend([0.0; FEATURES]),
                }
            }
        }
        to.push(&steps);
    }
    to.targets = batch.targets.clone();
    to.weights = batch.weights.clone();
    to
}

#[test]
fn a_window_is_a_network_that_reads_stacked_frames() {
    for window in WINDOWS {
        for readout in [Readout::Last, Readout::Every, Readout::Mean] {
            let net = with_projection(CellKind::FastGrnn, window, readout);
            let lengths = [window.stride, 9, 2 * window.stride + 1, 6];
            let (params, batch) = off_kinks(&net, &lengths, Loss::default(), false, ROUNDING_MARGIN);
            let plain = Network { window: Window::FRAME, ..net.clone() };
            let by_hand = stacked(&batch, &net);
            let wide = widen(&params);
            assert_eq!(reference::scores(&net, &wide, &batch), reference::scores(&plain, &wide, &by_hand));
            let (found, expected) = (
                reference::gradient(&net, &wide, &batch, Loss::default()),
                reference::gradient(&plain, &wide, &by_hand, Loss::default()),
            );
            assert_eq!(found, expected, "{window:?} {readout:?}");
        }
    }
}

#[test]
fn gradients_equal_the_reference_behind_every_window_and_cell() {
    for kind in kinds() {
        for (i, window) in WINDOWS.into_iter().enumerate() {
            let readout = [Readout::Last, Readout::Every, Readout::Max][i % 3];
            let (net, loss) = (with_projection(kind, window, readout), LOSSES[i % 3]);
            let (params, batch) = off_kinks(&net, &[10, 5, 23, 8, 17], loss, i % 2 == 1, ROUNDING_MARGIN);
            let expected = ReferenceStep::new(&net, &params, &batch, loss);
            for isa in engine::available_isas() {
                let mut engine = Engine::with_isa(&net, 2, isa).unwrap().unwrap();
                let (mut scores, mut gradient) = (Vec::new(), Gradient::new(&net));
                engine.forward(&params, &batch, &mut scores).unwrap();
                let step = engine.gradient(&params, &batch, loss, &mut gradient).unwrap();
                expected.assert_near(step.loss, &scores, &gradient.values, &format!("{isa:?} {window:?}"));
            }
        }
    }
}

#[test]
fn wrong_windows_are_refused() {
    let net = |window, input| Network { window, ..Network::new(vec![Cell::new(CellKind::Gru, input, 4)], 2) };
    for (frames, stride) in [(0, 0), (1, 0), (2, 3), (256, 1)] {
        let error = net(Window { frames, stride }, 256).check().unwrap_err();
        assert_eq!(error, NetworkError::Window { frames, stride });
    }
    let error = net(Window { frames: 3, stride: 2 }, 4).check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "layer 0 reads 4 numbers, which is not a multiple of the 3 frames of the window"
    );

    let window = Window { frames: 3, stride: 2 };
    let net = net(window, 6);
    let params = vec![0.1; net.layout().len()];
    let mut engine = Engine::new(&net, 1).unwrap();
    let mut batch = Batch::new(2);
    batch.push(&[0.0; 8]);
    let mut forward = |batch: &Batch| engine.forward(&params, batch, &mut Vec::new());
    assert_eq!(forward(&batch), Err(EngineError::Window { found: Window::FRAME, expected: window }));
    let mut batch = net.empty_batch();
    batch.push(&[0.0; 8]);
    batch.push(&[0.0; 2]);
    assert_eq!(forward(&batch), Err(EngineError::Empty { index: 1 }));
}
