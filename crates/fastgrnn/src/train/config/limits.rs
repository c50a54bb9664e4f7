//! Checks that the integer model fits its board, and suggests what would.

use super::{Config, ConfigError};
use crate::train::{Rank, Recipe};
use fastgrnn_core::net::InitialState;
use fastgrnn_core::settings::Group;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::device::{Footprint, Limits};
use fastgrnn_model::quantize::{MOST_TERMS, check_form, image_bytes_with, kept_entries};

impl Recipe {
    /// The limits of the integer model.
    pub fn limits(&self) -> Limits {
        self.limits.clone().complete().expect("every limit is optional")
    }
}

impl Config {
    /// The most bytes that the device image can have.
    pub(crate) fn image_bytes(&self, data: &Dataset) -> usize {
        image_bytes_with(&self.network(data).materialised(), self.bias_bits(), |view| {
            kept_entries(self.kept(&view.name), view.len())
        })
    }

    /// The bytes of the float parameters. A matrix of which a part is kept is stored as its f32 entries and a bit for
    /// each place, where that is smaller.
    pub(crate) fn float_bytes(&self, data: &Dataset) -> usize {
        let network = self.network(data).materialised();
        let bytes = |view: &fastgrnn_core::net::View| {
            let kept = kept_entries(self.kept(&view.name), view.len());
            (4 * view.len()).min(4 * kept + view.len().div_ceil(8))
        };
        network.layout().views().iter().map(bytes).sum()
    }

    /// What the integer model needs on a board.
    pub fn footprint(&self, data: &Dataset) -> Footprint {
        let footprint =
            Footprint::with_biases(&self.network(data).materialised(), self.bias_bits(), |view| {
                kept_entries(self.kept(&view.name), view.len())
            });
        let footprint = match &data.audio {
            Some(spec) => footprint.with_front_end(spec, None),
            None => footprint,
        };
        match self.parameters.initial_state {
            InitialState::Given(_) => footprint.storing_start(),
            InitialState::Zero | InitialState::Random => footprint,
        }
    }

    /// Whether it keeps to the limits, if there are any.
    pub fn fits(&self, data: &Dataset) -> bool {
        self.limits.allow(&self.footprint(data), data.train.x.max_steps())
    }

    /// Takes units away until the network keeps to the limits; leaves it as it is if none does.
    pub(super) fn shrink(&mut self, data: &Dataset) {
        if !self.limits.is_empty()
            && let Some(hidden) = self.most_units(data, self.network.hidden)
        {
            self.network.hidden = hidden;
        }
    }

    /// Refuses a network that exceeds the limits, with what would not.
    pub(super) fn check_limits(&self, data: &Dataset) -> Result<(), ConfigError> {
        let limits = self.limits;
        if limits.is_empty() {
            return Ok(());
        }
        if !self.quantization.quantize {
            return Err(ConfigError::Unused {
                key: "quantize",
                value: "false".into(),
                why: "fit, max-flash, max-ram and max-ms are about the integer model".into(),
                instead: "`quantize`".into(),
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
        let mut text = format!("{} of {} units", self.network.cell, self.network.hidden);
        if self.network.layers > 1 {
            text.push_str(&format!(" in {} layers", self.network.layers));
        }
        for (key, rank) in [("rank-w", self.network.rank_w), ("rank-u", self.network.rank_u)] {
            if let Rank::Of(columns) = rank {
                text.push_str(&format!(", {key} {columns}"));
            }
        }
        text
    }

    /// What to change.
    fn instead(&self, data: &Dataset) -> String {
        let hidden = self.most_units(data, self.network.hidden).map(|hidden| format!("`hidden = {hidden}`"));
        let rank = self.most_rank(data).map(|rank| format!("`rank-u = {rank}`"));
        match [hidden, rank].into_iter().flatten().collect::<Vec<_>>().join(" or ") {
            none if none.is_empty() => {
                let smaller = if self.has_four_bits() {
                    "smaller `rank-u` and `rank-w`"
                } else {
                    "a smaller `keep-u` and `keep-w`"
                };
                format!(
                    "no number of units keeps to the limits; try {smaller}, fewer `layers`, \
                     `gate = quantSigm` and `update = quantTanh`, or another board"
                )
            }
            some => format!("try {some}"),
        }
    }

    /// The most units, up to `most`, that keep to the limits with all else as it is.
    fn most_units(&self, data: &Dataset, most: usize) -> Option<usize> {
        (1..=most.min(MOST_TERMS)).rev().find(|&hidden| self.would_fit(data, |c| c.network.hidden = hidden))
    }

    /// The highest rank of U below the present one that keeps to the limits.
    fn most_rank(&self, data: &Dataset) -> Option<usize> {
        let now = self.network.rank_u.columns().unwrap_or(self.network.hidden).min(MOST_TERMS);
        (1..now).rev().find(|&rank| self.would_fit(data, |c| c.network.rank_u = Rank::Of(rank)))
    }

    fn would_fit(&self, data: &Dataset, change: impl Fn(&mut Self)) -> bool {
        let mut changed = self.clone();
        change(&mut changed);
        let network = changed.network(data);
        network.check().is_ok()
            && check_form(&network, changed.preparation.normalize, &changed.parameters.initial_state).is_ok()
            && changed.fits(data)
    }
}
