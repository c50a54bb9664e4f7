//! Whether the integer model will fit its board, and what would.

use super::{Config, ConfigError};
use crate::train::{Rank, Recipe};
use fastgrnn_core::net::InitialState;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::device::{Footprint, Limits};
use fastgrnn_model::quantize::{check_form, kept_entries};

/// Most units that are tried: an integer sum holds no more values.
const MOST_UNITS: usize = 511;

impl Recipe {
    /// What the integer model is held to.
    pub fn limits(&self) -> Limits {
        Limits {
            fit: self.fit,
            board: self.board,
            max_flash: self.max_flash,
            max_ram: self.max_ram,
            max_ms: self.max_ms,
        }
    }
}

impl Config {
    /// What the integer model is held to.
    pub fn limits(&self) -> Limits {
        Limits {
            fit: self.fit,
            board: self.board,
            max_flash: self.max_flash,
            max_ram: self.max_ram,
            max_ms: self.max_ms,
        }
    }

    /// What the integer model needs on a board.
    pub fn footprint(&self, data: &Dataset) -> Footprint {
        let footprint =
            Footprint::of(&self.network(data), |view| kept_entries(self.kept(&view.name), view.len()));
        let footprint = match &data.audio {
            Some(spec) => footprint.with_front_end(spec, None),
            None => footprint,
        };
        match self.initial_state {
            InitialState::Given(_) => footprint.storing_start(),
            InitialState::Zero | InitialState::Random => footprint,
        }
    }

    /// Whether it keeps to the limits, if there are any.
    pub fn fits(&self, data: &Dataset) -> bool {
        self.limits().allow(&self.footprint(data), data.train.x.max_steps())
    }

    /// Takes units away until the network keeps to the limits; leaves it as it is if none does.
    pub(super) fn shrink(&mut self, data: &Dataset) {
        if !self.limits().is_empty()
            && let Some(hidden) = self.most_units(data, self.hidden)
        {
            self.hidden = hidden;
        }
    }

    /// Refuses a network that exceeds the limits, with what would not.
    pub(super) fn check_limits(&self, data: &Dataset) -> Result<(), ConfigError> {
        let limits = self.limits();
        if limits.is_empty() {
            return Ok(());
        }
        if !self.quantize {
            return Err(ConfigError::Unused {
                key: "quantize",
                value: "false".into(),
                why: "fit, max-flash, max-ram and max-ms are about the integer model".into(),
                instead: "--quantize".into(),
            });
        }
        let excess = limits.excess(&self.footprint(data), data.train.x.max_steps());
        if excess.is_empty() {
            return Ok(());
        }
        Err(ConfigError::Excess { network: self.described(), excess, instead: self.instead(data) })
    }

    /// `fastgrnn of 80 units, rank-u 40`
    fn described(&self) -> String {
        let mut text = format!("{} of {} units", self.cell, self.hidden);
        if self.layers > 1 {
            text.push_str(&format!(" in {} layers", self.layers));
        }
        for (key, rank) in [("rank-w", self.rank_w), ("rank-u", self.rank_u)] {
            if let Rank::Of(columns) = rank {
                text.push_str(&format!(", {key} {columns}"));
            }
        }
        text
    }

    /// What to change.
    fn instead(&self, data: &Dataset) -> String {
        let hidden = self.most_units(data, self.hidden).map(|hidden| format!("--hidden {hidden}"));
        let rank = self.most_rank(data).map(|rank| format!("--rank-u {rank}"));
        match [hidden, rank].into_iter().flatten().collect::<Vec<_>>().join(" or ") {
            none if none.is_empty() => {
                "no number of units keeps to the limits; try a smaller --sparsity-u and --sparsity-w, fewer \
                 --layers, --gate quantSigm --update quantTanh, or another board"
                    .into()
            }
            some => format!("try {some}"),
        }
    }

    /// The most units, up to `most`, that keep to the limits with all else as it is.
    fn most_units(&self, data: &Dataset, most: usize) -> Option<usize> {
        (1..=most.min(MOST_UNITS)).rev().find(|&hidden| self.would_fit(data, |c| c.hidden = hidden))
    }

    /// The highest rank of U below the present one that keeps to the limits.
    fn most_rank(&self, data: &Dataset) -> Option<usize> {
        let now = self.rank_u.columns().unwrap_or(self.hidden).min(MOST_UNITS);
        (1..now).rev().find(|&rank| self.would_fit(data, |c| c.rank_u = Rank::Of(rank)))
    }

    fn would_fit(&self, data: &Dataset, change: impl Fn(&mut Self)) -> bool {
        let mut changed = self.clone();
        change(&mut changed);
        let network = changed.network(data);
        network.check().is_ok()
            && check_form(&network, changed.normalize, &changed.initial_state).is_ok()
            && changed.fits(data)
    }
}
