//! Language models on boards: the scores of the host, and its texts.

use crate::tools::runs;
use fastgrnn::cells::{Cell, CellKind, Scalar, Scalars, Start};
use fastgrnn::data::Sequences;
use fastgrnn::device::Board;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::{Embedding, Network, Readout};
use fastgrnn::quantize::{IntegerModel, Options as Quantize, quantize};
use fastgrnn::rng::Rng;
use fastgrnn::text::{Counts, END_OF_LINE, TextFormat, TokenKind, Tokenizer};
use fastgrnn_boards::{Arithmetic, BoardReport, Inputs, MeasureOptions, measure_model, outcomes};
use fastgrnn_export::Optimize;

const TOKENS: usize = 24;

fn language_model(tied: bool) -> IntegerModel {
    let mut cell = Cell::new(CellKind::FastGrnn, if tied { 14 } else { 5 }, 14).with_ranks(None, Some(6));
    cell.scalars = Scalars { zeta: Scalar::Fixed(1.0), nu: Scalar::Fixed(0.0), ..Scalars::default() };
    let network = Network {
        embedding: Some(Embedding { vocabulary: TOKENS, tied }),
        readout: Readout::Every,
        ..Network::new(vec![cell], TOKENS)
    };
    let mut rng = Rng::new(6);
    let mut params = network.start(Start::default(), 20, 2);
    params.iter_mut().for_each(|p| *p += rng.range(-0.8, 0.8) as f32);
    let mut counts = Counts::default();
    counts.add(END_OF_LINE);
    (2..TOKENS).for_each(|k| counts.add(&k.to_string()));
    let tokenizer = Tokenizer { kind: TokenKind::Blanks, lowercase: false };
    let text = TextFormat { tokenizer, vocabulary: counts.vocabulary(TOKENS, 1, &[]) };
    let mut x = Sequences::of_tokens();
    x.push_tokens(&(0..300).map(|_| rng.below(TOKENS) as u32).collect::<Vec<_>>());
    let model = Model { text: Some(text), ..Model::new(network, params, Task::NextToken) };
    quantize(&model, &x, &[0], &Quantize::default()).unwrap()
}

fn measured(board: Board, model: &IntegerModel, optimize: Optimize) -> BoardReport {
    let mut rng = Rng::new(3);
    // Also numbers that no token has.
    let window = |n: usize| (0..n).map(|_| rng.below(TOKENS + 2) as i16).collect();
    let windows: Vec<Vec<i16>> = [1, 30, 0, 12].map(window).to_vec();
    let expected = outcomes(model, &windows);
    let inputs = Inputs { windows: &windows, expected: &expected, recordings: &[] };
    let options = MeasureOptions { optimize: Some(optimize), ..MeasureOptions::default() };
    measure_model(board, model, Arithmetic::Integer, &inputs, &options).unwrap()
}

#[test]
fn boards_write_the_texts_of_the_host() {
    for (board, tied, optimize) in [
        (Board::M0plus, false, Optimize::Size),
        (Board::M0plus, true, Optimize::Speed),
        (Board::M3, true, Optimize::Size),
        (Board::Riscv32, false, Optimize::Size),
    ] {
        if !runs(board) {
            continue;
        }
        let report = measured(board, &language_model(tied), optimize);
        let text = report.text.as_ref().expect("this board can be asked to write");
        assert_eq!((report.mismatches, text.mismatches), (0, 0), "{}: {report:?}", board.id());
        assert_eq!((text.texts, text.tokens), (6, 6 * TOKENS as u64));
        // The sampler takes flash and cycles beyond the network's.
        assert!(
            text.flash_bytes > report.flash_bytes && text.ms_per_token > report.ms_per_step,
            "{report:?}"
        );
    }
}

#[test]
fn the_uno_reads_tokens_and_is_not_asked_to_write() {
    if !runs(Board::Uno) {
        return;
    }
    let report = measured(Board::Uno, &language_model(false), Optimize::Size);
    assert_eq!((report.mismatches, report.text), (0, None));
}
