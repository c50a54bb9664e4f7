//! Where values saturate, for whoever wants to know why a model got worse.

/// A value that may be cut to its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A normalised input.
    Input,
    /// W's vector between the factors.
    ProjectedW,
    /// U's vector between the factors.
    ProjectedU,
    /// What a GRU's reset gate multiplies.
    Recurrent,
    /// The value of a `relu`.
    Update,
    /// An LSTM's memory c.
    Memory,
    /// The state h.
    State,
}

impl Place {
    /// All places, in the order of a step.
    pub const ALL: [Self; 7] = [
        Self::Input,
        Self::ProjectedW,
        Self::ProjectedU,
        Self::Recurrent,
        Self::Update,
        Self::Memory,
        Self::State,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::ProjectedW => "projected-w",
            Self::ProjectedU => "projected-u",
            Self::Recurrent => "recurrent",
            Self::Update => "update",
            Self::Memory => "memory",
            Self::State => "state",
        }
    }
}

/// Told of every value that saturates.
pub trait Watch {
    /// A value of `layer` at `place` was cut.
    fn saturated(&mut self, layer: usize, place: Place);
}

/// Ignores saturations; costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn saturated(&mut self, _: usize, _: Place) {}
}
