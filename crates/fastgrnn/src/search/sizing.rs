//! The size of a network that just fits a budget.

use crate::train::{Config, ConfigError, Rank, Recipe, RecurrentForm};
use fastgrnn_core::cells::{Cell, CellKind, WeightBits};
use fastgrnn_data::data::Dataset;
use fastgrnn_model::device::{Limits, LimitsRecipe};
use fastgrnn_model::quantize::check_form;

/// Units beyond which a unit would read more values than an integer sum holds.
const MOST_UNITS: usize = 400;
/// Fewer units are no network.
pub(crate) const LEAST_UNITS: usize = 2;

/// What an integer network may need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Bytes of the whole device image.
    pub bytes: Option<usize>,
    /// What it may need on a board.
    pub limits: Limits,
}

impl Budget {
    /// Whether everything is allowed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it allows the network of a configuration.
    pub(crate) fn allows(&self, config: &Config, data: &Dataset) -> bool {
        self.bytes.is_none_or(|most| config.image_bytes(data) <= most)
            && self.limits.allow(&config.footprint(data), data.train.x.max_steps())
    }
}

/// Networks that differ in their units only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub cell: CellKind,
    /// Entries of the factors of W as a share of the full matrix's; 1 for full rank, nothing for the rank of the recipe.
    pub rank_share_w: Option<f64>,
    /// The same of U.
    pub rank_share_u: Option<f64>,
}

impl Family {
    /// The units of the member with the most of them that `budget` allows. `recipe` decides everything but the units, the
    /// ranks and the cell; it has no limits of its own.
    pub fn most_units(
        &self,
        recipe: &Recipe,
        data: &Dataset,
        budget: &Budget,
    ) -> Result<Option<usize>, ConfigError> {
        // One resolved configuration stands for all: only sizes differ. Limits are held below.
        let unlimited = recipe.clone().with(|r| r.limits = LimitsRecipe::default());
        let mut config = self.sized(&unlimited, data, self.least_units(recipe)).resolve(data)?;
        let mut most = None;
        for hidden in LEAST_UNITS..=MOST_UNITS {
            config.network.hidden = hidden;
            let (rank_w, rank_u) = self.ranks(data, hidden);
            config.network.rank_w = rank_w.unwrap_or(config.network.rank_w);
            config.network.rank_u = rank_u.unwrap_or(config.network.rank_u);
            // Vectors of tokens have as many numbers as there are units, unless the recipe says otherwise.
            (config.network.embedding, config.network.tied) = (recipe.network.embedding, recipe.network.tied);
            let network = config.network(data);
            // Not the end where one is too large: a rank that first pays off at more units makes the matrix smaller.
            if network.check().is_ok()
                && check_form(&network, config.preparation.normalize, &config.parameters.initial_state)
                    .is_ok()
                && self.is_of_its_own(&config)
                && budget.allows(&config, data)
            {
                most = Some(hidden);
            }
        }
        Ok(most)
    }

    /// Units that the form of U needs at least.
    fn least_units(&self, recipe: &Recipe) -> usize {
        let network = &recipe.network;
        let pairs = match network.form_u {
            Some(RecurrentForm::Rotations | RecurrentForm::FftRotations) => true,
            Some(_) => false,
            None => self.cell.declaration().has_pairs,
        };
        let rotations = network.rotations.unwrap_or(2);
        let of_form = if pairs { 2 * rotations } else { network.reflections.unwrap_or(LEAST_UNITS) };
        of_form.max(LEAST_UNITS)
    }

    /// The recipe of the member with this many units.
    pub fn sized(&self, base: &Recipe, data: &Dataset, hidden: usize) -> Recipe {
        let (rank_w, rank_u) = self.ranks(data, hidden);
        base.clone().with(|r| {
            r.network.cell = Some(self.cell);
            r.network.hidden = Some(hidden);
            r.network.rank_w = rank_w.or(r.network.rank_w);
            r.network.rank_u = rank_u.or(r.network.rank_u);
        })
    }

    /// Ranks whose factors have about the family's shares of the full matrices' entries; full where no rank has fewer.
    fn ranks(&self, data: &Dataset, hidden: usize) -> (Option<Rank>, Option<Rank>) {
        let rows = hidden * Cell::new(self.cell, 1, hidden).blocks();
        let rank = |share: f64, cols: usize| {
            let columns = (share * (rows * cols) as f64 / (rows + cols) as f64) as usize;
            let saves = columns * (rows + cols) < rows * cols;
            match share < 1.0 && saves && (1..=cols.min(rows)).contains(&columns) {
                true => Rank::Of(columns),
                false => Rank::Full,
            }
        };
        let of_u = |share| if self.cell.declaration().reads_state { rank(share, hidden) } else { Rank::Full };
        (self.rank_share_w.map(|share| rank(share, data.train.x.dim())), self.rank_share_u.map(of_u))
    }

    /// Whether the low rank is one: a share that leaves U full is another family's member.
    fn is_of_its_own(&self, config: &Config) -> bool {
        let is_low = |share: Option<f64>| share.is_some_and(|share| share < 1.0);
        match self.cell.declaration().reads_state {
            true => !is_low(self.rank_share_u) || config.network.rank_u != Rank::Full,
            false => !is_low(self.rank_share_w) || config.network.rank_w != Rank::Full,
        }
    }
}

impl Recipe {
    /// Removes settings that were meant for another cell.
    pub(crate) fn forget_other_cell(&mut self, meant_for: CellKind) {
        let cell = self.network.chosen_cell();
        // With and without gains, FastGRNN has the same settings.
        let family = |cell| if cell == CellKind::FastGrnnGain { CellKind::FastGrnn } else { cell };
        if family(cell) != CellKind::FastGrnn {
            self.network.gate_gain = None;
        }
        if family(cell) == family(meant_for) {
            return;
        }
        let parameters = &mut self.parameters;
        (parameters.alpha, parameters.beta, parameters.zeta, parameters.nu) = (None, None, None, None);
        if !cell.declaration().gated() {
            self.network.gate = None;
        }
    }

    /// Removes stages that were written for sparse matrices from a recipe with dense ones, and the other way round, and
    /// so for integers and for entries of 4 bits.
    pub(crate) fn forget_other_stages(&mut self, meant_for: &Recipe) {
        let is_sparse = |recipe: &Recipe| {
            let sparsity = &recipe.sparsity;
            [sparsity.keep_w, sparsity.keep_u, sparsity.keep_head].iter().flatten().any(|&kept| kept < 1.0)
        };
        let is_quantized = |recipe: &Recipe| recipe.quantization.quantize == Some(true);
        let has_four_bits = |recipe: &Recipe| {
            let bits = &recipe.quantization;
            [bits.bits_w, bits.bits_u, bits.bits_head].contains(&Some(WeightBits::Four))
        };
        let differs = |property: &dyn Fn(&Recipe) -> bool| property(self) != property(meant_for);
        if differs(&is_sparse) || differs(&is_quantized) || differs(&has_four_bits) {
            self.training.stages = None;
        }
    }
}
