//! Networks whose device image just fits a budget.

use super::{Candidate, ParetoError};
use crate::train::{Config, ConfigError, Rank, Recipe};
use fastgrnn_core::cells::{Cell, CellKind};
use fastgrnn_core::net::Network;
use fastgrnn_data::data::{CrossValidation, Dataset};
use fastgrnn_model::device::LimitsRecipe;
use fastgrnn_model::quantize::{check_form, image_bytes, kept_entries};

/// What to try. For each budget, cell, low-rank share and kept fraction there is one network: the
/// one with the most units that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Bytes of the whole device image.
    pub budgets: Vec<usize>,
    /// The cells; empty for the recipe's.
    pub cells: Vec<CellKind>,
    /// Entries of low-rank factors as shares of the full matrix; 1 for full rank.
    pub rank_shares: Vec<f64>,
    /// Fractions kept of W and U.
    pub kept: Vec<f64>,
}

impl Default for Grid {
    fn default() -> Self {
        Self { budgets: Vec::new(), cells: Vec::new(), rank_shares: vec![1.0, 0.5], kept: vec![1.0, 0.5] }
    }
}

/// What a grid comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateList {
    /// The networks, the smallest budget first.
    pub candidates: Vec<Candidate>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Units beyond which a unit would read more values than an integer sum holds.
const MOST_UNITS: usize = 400;
/// Fewer units are no network.
const LEAST_UNITS: usize = 2;

/// The networks of `grid`, with all settings but size and cell from `recipe`.
pub fn grid(recipe: &Recipe, data: &Dataset, grid: &Grid) -> Result<CandidateList, ParetoError> {
    check(recipe, grid)?;
    recipe.limits().check().map_err(ConfigError::from)?;
    let own = [recipe.network.cell.unwrap_or(CellKind::FastGrnn)];
    let cells = if grid.cells.is_empty() { &own[..] } else { &grid.cells };
    let mut budgets = grid.budgets.clone();
    budgets.sort_unstable();
    budgets.dedup();
    let mut list = CandidateList { candidates: Vec::new(), notes: Vec::new() };
    for &budget in &budgets {
        for &cell in cells {
            let before = list.candidates.len();
            let mut known = false;
            for &share in &grid.rank_shares {
                for &kept in &grid.kept {
                    let family = Family { cell, share, kept };
                    match family.largest(recipe, data, budget)? {
                        Some(found) if list.candidates.iter().any(|c| c.name == found.name) => known = true,
                        Some(found) => list.candidates.push(found),
                        None => {}
                    }
                }
            }
            if list.candidates.len() == before && !known {
                let limits = if recipe.limits().is_empty() { "" } else { " and keeps to the limits" };
                list.notes
                    .push(format!("no {cell} of {LEAST_UNITS} units or more fits {budget} bytes{limits}"));
            }
        }
    }
    if list.candidates.is_empty() { Err(ParetoError::Nothing(list.notes)) } else { Ok(list) }
}

fn check(recipe: &Recipe, grid: &Grid) -> Result<(), ParetoError> {
    if grid.budgets.is_empty() {
        return Err(ParetoError::NoBudget);
    }
    for (key, values) in [("rank-shares", &grid.rank_shares), ("kept", &grid.kept)] {
        if let Some(&value) = values.iter().find(|v| !(**v > 0.0 && **v <= 1.0)) {
            return Err(ParetoError::Fraction { key, value });
        }
    }
    let is_cross_validated = recipe.preparation.cv.is_some_and(CrossValidation::is_on);
    match recipe.preparation.val_split {
        Some(share) if share <= 0.0 && !is_cross_validated => Err(ParetoError::NoValidation),
        _ => Ok(()),
    }
}

/// The keys of `recipe` that a grid decides instead.
///
/// ```
/// use fastgrnn::{pareto, train::Recipe};
/// let recipe = Recipe::default().with(|r| { r.network.hidden = Some(32); r.training.seeds = Some(3); });
/// assert_eq!(pareto::decided(&recipe), ["hidden"]);
/// ```
pub fn decided(recipe: &Recipe) -> Vec<&'static str> {
    let keys = [
        ("hidden", recipe.network.hidden.is_some()),
        ("rank-w", recipe.network.rank_w.is_some()),
        ("rank-u", recipe.network.rank_u.is_some()),
        ("form-w", recipe.network.form_w.is_some()),
        ("form-u", recipe.network.form_u.is_some()),
        ("keep-w", recipe.sparsity.keep_w.is_some()),
        ("keep-u", recipe.sparsity.keep_u.is_some()),
        ("quantize", recipe.quantization.quantize == Some(false)),
    ];
    keys.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
}

/// Networks that differ in their units only.
#[derive(Clone, Copy, Debug)]
struct Family {
    cell: CellKind,
    share: f64,
    kept: f64,
}

impl Family {
    /// The member with the most units within `budget`.
    fn largest(
        &self,
        recipe: &Recipe,
        data: &Dataset,
        budget: usize,
    ) -> Result<Option<Candidate>, ParetoError> {
        let mut largest = None;
        // One resolved configuration stands for all: only sizes differ. Limits are held below.
        let unlimited = recipe.clone().with(|r| r.limits = LimitsRecipe::default());
        let mut config = self.recipe(&unlimited, data, LEAST_UNITS).resolve(data)?;
        let (limits, steps) = (recipe.limits(), data.train.x.max_steps());
        for hidden in LEAST_UNITS..=MOST_UNITS {
            self.resize(&mut config, data, hidden);
            let bytes = self.bytes(&config, data);
            // Not the end: a rank that first pays off at more units makes the matrix smaller.
            if bytes > budget {
                continue;
            }
            let form = check_form(
                &config.network(data),
                config.preparation.normalize,
                &config.parameters.initial_state,
            );
            if form.is_ok() && self.is_of_its_own(&config) && limits.allow(&config.footprint(data), steps) {
                largest = Some((hidden, bytes));
            }
        }
        let Some((hidden, image_bytes)) = largest else { return Ok(None) };
        let config = self.recipe(recipe, data, hidden).resolve(data)?;
        Ok(Some(Candidate { name: name(&config), budget, image_bytes, config }))
    }

    /// The recipe of the member with this many units.
    fn recipe(&self, base: &Recipe, data: &Dataset, hidden: usize) -> Recipe {
        let (rank_w, rank_u) = self.ranks(data, hidden);
        let mut recipe = base.clone().with(|r| {
            r.network.cell = Some(self.cell);
            r.network.hidden = Some(hidden);
            r.network.rank_w = Some(rank_w);
            r.network.rank_u = Some(rank_u);
            r.sparsity.keep_w = Some(self.kept);
            r.sparsity.keep_u = self.cell.declaration().reads_state.then_some(self.kept);
            r.quantization.quantize = Some(true);
        });
        if base.network.cell.unwrap_or(CellKind::FastGrnn) != self.cell {
            (recipe.parameters.alpha, recipe.parameters.beta, recipe.parameters.zeta, recipe.parameters.nu) =
                (None, None, None, None);
            if !self.cell.declaration().gated() {
                recipe.network.gate = None;
            }
        }
        // Stages that were written for sparse matrices do not fit dense ones, nor the other way.
        let sparse = |w: Option<f64>, u: Option<f64>| w.unwrap_or(1.0).min(u.unwrap_or(1.0)) < 1.0;
        let was = sparse(base.sparsity.keep_w, base.sparsity.keep_u);
        if was != (self.kept < 1.0) || base.quantization.quantize != Some(true) {
            recipe.training.stages = None;
        }
        recipe
    }

    fn resize(&self, config: &mut Config, data: &Dataset, hidden: usize) {
        config.network.hidden = hidden;
        (config.network.rank_w, config.network.rank_u) = self.ranks(data, hidden);
    }

    /// Ranks whose factors have about the family's share of the full matrix's entries; full where
    /// no rank has fewer.
    fn ranks(&self, data: &Dataset, hidden: usize) -> (Rank, Rank) {
        let rows = hidden * Cell::new(self.cell, 1, hidden).blocks();
        let rank = |cols: usize| {
            let columns = (self.share * (rows * cols) as f64 / (rows + cols) as f64) as usize;
            let saves = columns * (rows + cols) < rows * cols;
            if self.share < 1.0 && saves && (1..=cols.min(rows)).contains(&columns) {
                Rank::Of(columns)
            } else {
                Rank::Full
            }
        };
        let rank_u = if self.cell.declaration().reads_state { rank(hidden) } else { Rank::Full };
        (rank(data.train.x.dim()), rank_u)
    }

    /// Whether the low rank is one: a share that leaves U full is another family's member.
    fn is_of_its_own(&self, config: &Config) -> bool {
        let rank =
            if self.cell.declaration().reads_state { config.network.rank_u } else { config.network.rank_w };
        self.share == 1.0 || rank != Rank::Full
    }

    fn bytes(&self, config: &Config, data: &Dataset) -> usize {
        let network: Network = config.network(data);
        image_bytes(&network, |view| {
            let kept = if view.name.starts_with("head.") { config.sparsity.keep_head } else { self.kept };
            kept_entries(kept, view.len())
        })
    }
}

/// A name made of the settings that differ: `gru-h12-w5-u6-k0.5`.
fn name(config: &Config) -> String {
    let mut name = format!("{}-h{}", config.network.cell, config.network.hidden);
    for (letter, rank) in [('w', config.network.rank_w), ('u', config.network.rank_u)] {
        if let Rank::Of(columns) = rank {
            name.push_str(&format!("-{letter}{columns}"));
        }
    }
    if config.sparsity.keep_w < 1.0 {
        name.push_str(&format!("-k{}", config.sparsity.keep_w));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_data::data::{Request, load};

    fn digits() -> Dataset {
        load(&Request::new("digits")).unwrap()
    }

    #[test]
    fn each_family_has_as_many_units_as_fit() {
        let data = digits();
        let recipe = Recipe::default().with(|r| r.source.dataset = Some("digits".into()));
        let grid = Grid {
            budgets: vec![2_048, 900],
            cells: vec![CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm],
            ..Grid::default()
        };
        let list = super::grid(&recipe, &data, &grid).unwrap();
        for candidate in &list.candidates {
            assert!(candidate.image_bytes <= candidate.budget, "{}", candidate.name);
            let mut larger = candidate.config.clone();
            larger.network.hidden += 1;
            let kept = candidate.config.sparsity.keep_w;
            let family = Family { cell: candidate.config.network.cell, share: 1.0, kept };
            if larger.network.rank_u == Rank::Full {
                assert!(family.bytes(&larger, &data) > candidate.budget, "{}", candidate.name);
            }
        }
        let names: Vec<&str> = list.candidates.iter().map(|c| c.name.as_str()).collect();
        assert!(names[0].starts_with("fastgrnn-h") && list.candidates[0].budget == 900, "{names:?}");
        assert!(names.iter().any(|n| n.starts_with("lstm") && n.ends_with("k0.5")), "{names:?}");
    }

    #[test]
    fn budgets_that_nothing_fits_are_named() {
        let recipe = Recipe::default().with(|r| r.source.dataset = Some("digits".into()));
        let grid = Grid { budgets: vec![100], ..Grid::default() };
        let error = super::grid(&recipe, &digits(), &grid).unwrap_err().to_string();
        assert!(error.contains("fastgrnn") && error.contains("100 bytes"), "{error}");
    }

    #[test]
    fn settings_of_one_cell_are_not_forced_on_another() {
        let recipe = Recipe::default().with(|r| {
            r.source.dataset = Some("digits".into());
            r.parameters.zeta = Some("0.5".parse().unwrap());
            r.network.gate = Some(fastgrnn_core::cells::Nonlinearity::QuantSigm);
        });
        let cells = vec![CellKind::FastGrnn, CellKind::Rnn];
        let grid = Grid { budgets: vec![1_024], cells, ..Grid::default() };
        let list = super::grid(&recipe, &digits(), &grid).unwrap();
        assert!(list.candidates.iter().any(|c| c.config.network.cell == CellKind::Rnn));
    }
}
