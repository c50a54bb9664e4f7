//! Which form of code suits a board and a network.

use fastgrnn::device::{Board, CodeForm, Footprint};
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::Optimize;

/// The default for a board, whatever the network: speed where straight-line code is worthwhile,
/// otherwise size.
///
/// ```
/// use fastgrnn::device::Board;
/// use fastgrnn_export::Optimize;
/// assert_eq!(fastgrnn_boards::default_optimization(Board::Uno), Optimize::Size);
/// assert_eq!(fastgrnn_boards::default_optimization(Board::M4), Optimize::Speed);
/// ```
pub fn default_optimization(board: Board) -> Optimize {
    match board.info().costs.straight {
        Some(_) => Optimize::Speed,
        None => Optimize::Size,
    }
}

/// The optimisation that suits `model` on a board: speed where the board takes straight-line code and
/// is estimated to have room for it, otherwise size.
pub fn choose_optimization(model: &IntegerModel, board: Board) -> Optimize {
    match Footprint::of_model(model).estimate(board).form {
        CodeForm::Straight => default_optimization(board),
        CodeForm::Loops => Optimize::Size,
    }
}
