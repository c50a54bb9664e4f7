//! A recipe with its compressions taken away one after the other: the paper's component table.

use super::ParetoError;
use crate::train::{Rank, Recipe};

/// One row: the recipe with the compressions up to here.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// `full-rank`, `low-rank`, `sparse` or `integer`: also a folder's name.
    pub name: &'static str,
    /// Its settings.
    pub recipe: Recipe,
}

/// The rows from the plain network to `recipe` itself: float full-rank, then low rank, sparsity
/// and integers, as far as the recipe has them. The last row is always the recipe.
///
/// ```
/// use fastgrnn::pareto::components;
/// use fastgrnn::train::Recipe;
/// let text = "rank-u = 8\nkeep-u = 0.5\nquantize = true";
/// let recipe = Recipe::from_toml_str(text, "example.toml")?;
/// let names: Vec<&str> = components(&recipe)?.iter().map(|c| c.name).collect();
/// assert_eq!(names, ["full-rank", "low-rank", "sparse", "integer"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn components(recipe: &Recipe) -> Result<Vec<Component>, ParetoError> {
    let mut rows: Vec<Component> = Vec::new();
    let mut rest = recipe.clone();
    let mut add = |name: &'static str, recipe: &Recipe| rows.push(Component { name, recipe: recipe.clone() });
    if rest.quantization.quantize == Some(true) {
        add("integer", &rest);
        (rest.quantization.quantize, rest.quantization.input_lsb, rest.training.stages) = (None, None, None);
    }
    if [rest.sparsity.keep_w, rest.sparsity.keep_u, rest.sparsity.keep_head]
        .iter()
        .flatten()
        .any(|&kept| kept < 1.0)
    {
        add("sparse", &rest);
        (rest.sparsity.keep_w, rest.sparsity.keep_u, rest.sparsity.keep_head) = (None, None, None);
        rest.training.stages = None;
    }
    if [rest.network.rank_w, rest.network.rank_u].iter().flatten().any(|&rank| rank != Rank::Full) {
        add("low-rank", &rest);
        (rest.network.rank_w, rest.network.rank_u) = (None, None);
    }
    if rows.is_empty() {
        return Err(ParetoError::NoComponents);
    }
    rows.push(Component { name: "full-rank", recipe: rest });
    rows.reverse();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_recipe_does_not_have_is_no_row() {
        let of = |text: &str| {
            let recipe = Recipe::from_toml_str(text, "r.toml").unwrap();
            components(&recipe).map(|rows| rows.iter().map(|c| c.name).collect::<Vec<_>>())
        };
        assert_eq!(of("quantize = true").unwrap(), ["full-rank", "integer"]);
        assert_eq!(of("rank-w = 3\nkeep-w = 1.0").unwrap(), ["full-rank", "low-rank"]);
        assert!(matches!(of("hidden = 8"), Err(ParetoError::NoComponents)));
    }

    #[test]
    fn only_the_last_row_trains_for_integers() {
        let text = "quantize = true\ninput-lsb = [0.5]\nkeep-u = 0.5\n\
                    stages = \"dense:1/3,project:1/3,quantized:1/3\"";
        let rows = components(&Recipe::from_toml_str(text, "r.toml").unwrap()).unwrap();
        let (last, others) = rows.split_last().unwrap();
        assert!(last.recipe.training.stages.is_some() && last.recipe.quantization.input_lsb.is_some());
        assert!(
            others
                .iter()
                .all(|c| c.recipe.training.stages.is_none() && c.recipe.quantization.input_lsb.is_none())
        );
    }
}
