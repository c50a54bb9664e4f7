//! Networks whose device image just fits a budget.

use super::{Candidate, ParetoError};
use crate::search::Budget;
use crate::search::sizing::{Family, LEAST_UNITS};
use crate::train::{Config, ConfigError, Rank, Recipe};
use fastgrnn_core::cells::{CellKind, WeightBits};
use fastgrnn_data::data::{CrossValidation, Dataset};

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

/// The networks of `grid`, with all settings but size and cell from `recipe`.
pub fn grid(recipe: &Recipe, data: &Dataset, grid: &Grid) -> Result<CandidateList, ParetoError> {
    check(recipe, grid)?;
    recipe.limits().check().map_err(ConfigError::from)?;
    let own = [recipe.network.chosen_cell()];
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
                    let family = Family { cell, rank_share_w: Some(share), rank_share_u: Some(share) };
                    match largest(recipe, data, family, kept, budget)? {
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

/// The network with the most units within `budget` bytes, if there is one.
fn largest(
    recipe: &Recipe,
    data: &Dataset,
    family: Family,
    kept: f64,
    budget: usize,
) -> Result<Option<Candidate>, ParetoError> {
    let base = compressed(recipe, family.cell, kept);
    let limits = Budget { bytes: Some(budget), limits: recipe.limits() };
    let Some(hidden) = family.most_units(&base, data, &limits)? else { return Ok(None) };
    let config = family.sized(&base, data, hidden).resolve(data)?;
    Ok(Some(Candidate { name: name(&config), budget, image_bytes: config.image_bytes(data), config }))
}

/// The recipe with this cell, in integers, of whose matrices a fraction is kept. Those of 4 bits are not pruned.
fn compressed(base: &Recipe, cell: CellKind, kept: f64) -> Recipe {
    let of = |bits: Option<WeightBits>| (bits != Some(WeightBits::Four)).then_some(kept);
    let mut recipe = base.clone().with(|r| {
        r.network.cell = Some(cell);
        r.sparsity.keep_w = of(r.quantization.bits_w);
        r.sparsity.keep_u = of(r.quantization.bits_u).filter(|_| cell.declaration().reads_state);
        r.quantization.quantize = Some(true);
    });
    recipe.forget_other_cell(base.network.chosen_cell());
    recipe.forget_other_stages(base);
    recipe
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
            if larger.network.rank_u == Rank::Full {
                assert!(larger.image_bytes(&data) > candidate.budget, "{}", candidate.name);
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
