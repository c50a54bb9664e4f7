//! Limits on the memory and time of a network, checked before it is trained.

use super::{Board, CodeForm, Estimate, Footprint};
use fastgrnn_core::format::{count, number};
use fastgrnn_core::settings::{Choice, Group};
use fastgrnn_core::{choice_setting, settings};

settings! {
    /// What the integer model may need on a board.
    "Limits", LimitsRecipe => Limits {
        /// Board whose flash and RAM the integer model must fit; turns quantize on and keeps hidden small enough
        fit: Board = optional, local;
        /// Board whose code and clock max-flash, max-ram and max-ms refer to
        board: Board = optional("the board of fit, else the one that needs most"), local;
        /// Largest number of bytes of flash for the integer model and its code, as estimated from its shape
        max_flash: usize = optional, value("BYTES"), local;
        /// Largest number of bytes of RAM, including the stack, as estimated from the shape
        max_ram: usize = optional, value("BYTES"), local;
        /// Largest number of milliseconds for a whole inference: all time steps of the longest sequence and the decision; needs board or fit
        max_ms: f64 = optional, value("MS"), local;
    }
}

impl Copy for Limits {}

impl Default for Limits {
    fn default() -> Self {
        LimitsRecipe::default().complete().expect("every limit is optional")
    }
}

impl Choice for Board {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    fn choice_name(self) -> &'static str {
        self.id()
    }
}

choice_setting!(Board);

/// Why limits are invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// `fit` and `board` name different boards.
    #[error("fit = {} and board = {}: these are two boards; leave one out", fit.id(), board.id())]
    TwoBoards {
        /// The value of `fit`.
        fit: Board,
        /// The value of `board`.
        board: Board,
    },
    /// A board is named without any limit.
    #[error(
        "board = {}: nothing is limited on it; use fit for its own memory, or add max-flash, max-ram or max-ms",
        board.id()
    )]
    Nothing {
        /// The board.
        board: Board,
    },
    /// A time limit without a board.
    #[error("max-ms = {0}: a time limit needs a board; name it with board or fit")]
    NoBoard(
        /// The limit.
        f64,
    ),
    /// A time limit on a board without a clock.
    #[error("max-ms = {max_ms}: times of the board {} are not known; leave max-ms out or choose another board", board.id())]
    NoClock {
        /// The limit.
        max_ms: f64,
        /// The board.
        board: Board,
    },
    /// A time limit that is not a positive number.
    #[error("max-ms = {0}: it must be a number above 0")]
    Time(
        /// The limit.
        f64,
    ),
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The board that the limits name, if any.
    pub fn named_board(&self) -> Option<Board> {
        self.fit.or(self.board)
    }

    /// Returns an error for limits that contradict each other.
    ///
    /// ```
    /// use fastgrnn_model::device::{Board, Limits};
    /// let limits = Limits { max_ms: Some(50.0), ..Limits::default() };
    /// assert!(limits.check().unwrap_err().to_string().contains("name it with board"));
    /// assert!(Limits { board: Some(Board::M3), ..limits }.check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), LimitsError> {
        match (self.fit, self.board) {
            (Some(fit), Some(board)) if fit != board => return Err(LimitsError::TwoBoards { fit, board }),
            (None, Some(board)) if Self { board: None, ..*self }.is_empty() => {
                return Err(LimitsError::Nothing { board });
            }
            _ => {}
        }
        let Some(max_ms) = self.max_ms else { return Ok(()) };
        if !(max_ms > 0.0 && max_ms.is_finite()) {
            return Err(LimitsError::Time(max_ms));
        }
        match self.named_board() {
            None => Err(LimitsError::NoBoard(max_ms)),
            Some(board) if board.info().clock.is_none() => Err(LimitsError::NoClock { max_ms, board }),
            Some(_) => Ok(()),
        }
    }

    /// Whether a network is within the limits on sequences of `steps` steps.
    pub fn allow(&self, network: &Footprint, steps: usize) -> bool {
        self.boards().iter().all(|&board| self.form_on(network, board, steps).is_some())
    }

    /// Which limits are exceeded and by how much, as text; empty if none is.
    ///
    /// If no board is named, the text is about the board on which the network takes most.
    pub fn excess(&self, network: &Footprint, steps: usize) -> Vec<String> {
        let over = self.boards().into_iter().filter(|&board| self.form_on(network, board, steps).is_none());
        let taken = |board: &Board| {
            let estimate = network.estimate_loops(*board);
            estimate.ram_bytes() + estimate.flash_bytes()
        };
        let Some(board) = over.max_by_key(taken) else { return Vec::new() };
        let small = network.estimate_loops(board);
        let fast = network.estimate_form(board, CodeForm::Straight);
        let mut excess = self.memory_excess(&small);
        if excess.is_empty()
            && let Some(max_ms) = self.max_ms
        {
            // Loops fit, so they are too slow, and straight-line code is too slow or does not fit.
            let ms = |e: &Estimate| number(e.ms_per_inference(steps).unwrap_or_default());
            let mut text = format!(
                "takes about {} ms for a sequence of {} steps on {}, max-ms allows {} with a quarter to spare",
                ms(&small),
                count(steps as u64),
                board.info().short_name,
                number(max_ms)
            );
            if let Some(fast) = fast.filter(|fast| !self.memory_excess(fast).is_empty()) {
                let what = self.memory_excess(&fast).join(" and ");
                text.push_str(&format!("; straight code would take {} ms, but {what}", ms(&fast)));
            } else if let Some(fast) = fast {
                text.push_str(&format!(", and about {} ms as straight code", ms(&fast)));
            }
            excess.push(text);
        }
        excess
    }

    /// The boards on which the limits must be kept.
    fn boards(&self) -> Vec<Board> {
        match (self.named_board(), self.is_empty()) {
            (Some(board), _) => vec![board],
            (None, true) => Vec::new(),
            (None, false) => Board::ALL.to_vec(),
        }
    }

    /// The estimate of the first form of code that is within the limits.
    fn form_on(&self, network: &Footprint, board: Board, steps: usize) -> Option<Estimate> {
        let forms = [CodeForm::Straight, CodeForm::Loops]
            .into_iter()
            .filter_map(|form| network.estimate_form(board, form));
        let in_time = |e: &Estimate| match (self.max_ms, e.ms_per_inference(steps)) {
            (Some(most), Some(ms)) => MARGIN * ms <= most,
            _ => true,
        };
        forms.into_iter().find(|e| self.memory_excess(e).is_empty() && in_time(e))
    }

    fn memory_excess(&self, estimate: &Estimate) -> Vec<String> {
        let info = estimate.board.info();
        let what = [
            ("flash", estimate.flash_bytes(), info.flash, estimate.flash_left, "max-flash", self.max_flash),
            ("RAM", estimate.ram_bytes(), info.ram, estimate.ram_left, "max-ram", self.max_ram),
        ];
        let mut excess = Vec::new();
        for (what, needed, has, left, key, most) in what {
            let needs = format!("needs {} bytes of {what}", count(needed as u64));
            if let (Some(board), Some(has), Some(left)) = (self.fit, has, left)
                && needed > left
            {
                let (has, left) = (count(has as u64), count(left as u64));
                let board = board.info().short_name;
                excess.push(format!("{needs}, {board} has {has} of which {left} are left to a network"));
            }
            if let Some(most) = most.filter(|&most| needed > most) {
                let board = estimate.board.info().short_name;
                excess.push(format!("{needs} on {board}, {key} allows {}", count(most as u64)));
            }
        }
        excess
    }
}

/// Estimated times are close to the counted ones, but may be below them: a network must be faster
/// than the limit by this factor.
const MARGIN: f64 = 1.25;

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::{Network, View};

    fn network(hidden: usize) -> Footprint {
        Footprint::of(&Network::new(vec![Cell::new(CellKind::FastGrnn, 9, hidden)], 6), View::len)
    }

    #[test]
    fn what_an_uno_has_no_room_for_is_named_with_its_numbers() {
        let limits = Limits { fit: Some(Board::Uno), ..Limits::default() };
        assert!(limits.allow(&network(60), 128) && limits.excess(&network(60), 128).is_empty());
        assert!(!limits.allow(&network(450), 128));
        let text = limits.excess(&network(450), 128).join("; ");
        assert!(text.contains("bytes of flash, an Uno has 32,256 of which 30,208 are left"), "{text}");
        assert!(text.contains("bytes of RAM, an Uno has 2,048"), "{text}");
    }

    #[test]
    fn numbers_limit_without_a_board_and_time_with_one() {
        let limits = Limits { max_flash: Some(2_500), ..Limits::default() };
        let text = limits.excess(&network(60), 128).join("; ");
        assert!(text.contains("max-flash allows 2,500"), "{text}");
        let limits = Limits { board: Some(Board::M0plus), max_ms: Some(100.0), ..Limits::default() };
        assert!(limits.allow(&network(20), 128));
        let text = limits.excess(&network(100), 128).join("; ");
        assert!(text.contains("ms for a sequence of 128 steps on an MKR1000, max-ms allows 100"), "{text}");
    }

    #[test]
    fn contradictions_are_refused() {
        let none = Limits::default();
        for (limits, part) in [
            (Limits { fit: Some(Board::Uno), board: Some(Board::M3), ..none }, "two boards"),
            (Limits { board: Some(Board::M3), ..none }, "nothing is limited"),
            (Limits { max_ms: Some(5.0), ..none }, "name it"),
            (Limits { max_ms: Some(5.0), fit: Some(Board::Aarch64), ..none }, "another board"),
            (Limits { max_ms: Some(-5.0), fit: Some(Board::Uno), ..none }, "above 0"),
        ] {
            let error = limits.check().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(none.check().is_ok());
    }
}
