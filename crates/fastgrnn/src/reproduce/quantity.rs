//! What a table shows of a training.

use super::job::JobRecord;
use super::sets::Figure;

/// A quantity that is read of a finished training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A score on the test part.
    Score(Figure),
    /// The perplexity of the text that the network was trained on.
    TrainPerplexity,
    /// A learnt scalar of the first layer before the training.
    ScalarAtStart(&'static str),
    /// The same after it.
    Scalar(&'static str),
    /// How far the learnt β is from 1 − α, as a share of 1 − α.
    TieError,
    /// A score on the test part from the random state with this number.
    FromState(Figure, usize),
    /// Milliseconds of a board for a sequence.
    Milliseconds,
    /// Its instructions for a sequence, in millions.
    Instructions,
}

impl Quantity {
    /// Its name in JSON.
    pub fn name(self) -> String {
        match self {
            Self::Score(figure) => figure.name(),
            Self::TrainPerplexity => "train_perplexity".into(),
            Self::ScalarAtStart(name) => format!("{name}_at_start"),
            Self::Scalar(name) => name.into(),
            Self::TieError => "beta_off_1_minus_alpha".into(),
            Self::FromState(figure, number) => format!("{}_from_state_{}", figure.name(), number + 1),
            Self::Milliseconds => "ms".into(),
            Self::Instructions => "million_instructions".into(),
        }
    }

    /// Its name as the heading of a column.
    pub fn title(self) -> String {
        match self {
            Self::Score(figure) => figure.title(),
            Self::TrainPerplexity => "perplexity of the training text".into(),
            Self::ScalarAtStart(name) => format!("{} at the start", letter(name)),
            Self::Scalar(name) => letter(name).into(),
            Self::TieError => "β off 1 − α".into(),
            Self::FromState(figure, number) => format!("{} from state {}", figure.title(), number + 1),
            Self::Milliseconds => "ms for a sequence".into(),
            Self::Instructions => "million instructions for a sequence".into(),
        }
    }

    /// Whether it is a share, which tables show in percent.
    pub fn is_share(self) -> bool {
        match self {
            Self::Score(figure) | Self::FromState(figure, _) => figure.is_share(),
            Self::TieError => true,
            Self::TrainPerplexity
            | Self::ScalarAtStart(_)
            | Self::Scalar(_)
            | Self::Milliseconds
            | Self::Instructions => false,
        }
    }

    /// How its values are found.
    pub fn basis(self) -> &'static str {
        match self {
            Self::TieError => "derived",
            // The boards of the tables have no cycle-accurate emulator.
            Self::Milliseconds => "modelled",
            _ => "measured",
        }
    }

    /// Its value for a training.
    pub fn of(self, record: &JobRecord) -> Option<f64> {
        let scalar = |name: &str| record.scalars.iter().find(|scalar| scalar.name == name);
        match self {
            Self::Score(figure) => figure.of(record.test.as_ref()?),
            Self::TrainPerplexity => record.train.as_ref()?.perplexity,
            Self::ScalarAtStart(name) => scalar(name).map(|scalar| scalar.start),
            Self::Scalar(name) => scalar(name).map(|scalar| scalar.end),
            Self::TieError => {
                let rest = 1.0 - scalar("alpha")?.end;
                Some((scalar("beta")?.end - rest).abs() / rest)
            }
            Self::FromState(figure, number) => figure.of(record.starts.get(number)?),
            Self::Milliseconds => record.board.as_ref()?.ms,
            Self::Instructions => Some(record.board.as_ref()?.instructions / 1e6),
        }
    }
}

/// The Greek letter of a scalar.
pub(crate) fn letter(name: &str) -> &str {
    match name {
        "alpha" => "α",
        "beta" => "β",
        "zeta" => "ζ",
        "nu" => "ν",
        other => other,
    }
}
