//! From the choices of a trial to a network that can be trained.

use super::SearchError;
use super::datasets::Datasets;
use super::schedule::Halving;
use super::sizing::{Budget, Family};
use super::space::{BITS, Proportion, Space, put};
use crate::train::{AugmentSetting, Config, FormSetting, Recipe, RecurrentForm};
use fastgrnn_core::cells::WeightBits;
use fastgrnn_data::data::{Dataset, TaskKind};
use fastgrnn_model::device::CodeForm;
use fastgrnn_model::settings::Refit;
use toml::{Table, Value};

/// A network that can be trained within the budget.
#[derive(Clone, Debug)]
pub(super) struct TrialNetwork {
    /// The recipe that the choices make.
    pub recipe: Recipe,
    /// All settings, for the whole training.
    pub config: Config,
    /// What it needs.
    pub size: Size,
    /// What becomes of a validation part that was cut off; nothing where the recipe or its defaults decide.
    refit: Option<Refit>,
}

/// What a network needs, known before it is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Size {
    /// The most bytes that the device image can have; of f32 parameters without `quantize`.
    pub bytes: usize,
    /// Bytes of RAM on the board, as estimated; only where a board is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ram: Option<usize>,
    /// Milliseconds of an inference on the board, as modelled; only where a board with a clock is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

impl TrialNetwork {
    /// The recipe of its training in a rung: with a part of the epochs and one seed.
    pub fn short(&self, halving: Halving, rung: usize) -> Recipe {
        self.recipe.clone().with(|r| {
            r.training.epochs = Some(halving.epochs(rung, self.config.training.epochs));
            r.training.seeds = Some(1);
            // Folds need a network that has seen all training data.
            if !self.config.preparation.cv.is_on() {
                r.training.refit = Some(Refit::None);
            }
        })
    }

    /// The recipe of its whole training with so many seeds.
    pub fn whole(&self, seeds: usize) -> Recipe {
        self.recipe.clone().with(|r| {
            r.training.seeds = Some(seeds);
            // A refit that is given would turn cross-validation off.
            r.training.refit = self.refit.or(r.training.refit);
        })
    }
}

/// What candidates are made from.
pub(super) struct Maker<'a> {
    pub base: &'a Recipe,
    pub space: &'a Space,
    pub budget: Budget,
}

impl Maker<'_> {
    /// The recipe as it was given, without any choice: with the most units that fit, unless it says how many.
    pub fn baseline(&self, datasets: &mut Datasets) -> Result<Option<TrialNetwork>, SearchError> {
        let recipe = self.quantized(self.base.clone());
        let data = datasets.of(&recipe)?;
        let cell = recipe.network.chosen_cell();
        let recipe = match recipe.network.hidden.is_some() || self.budget.is_empty() {
            true => Ok(Some(recipe)),
            false => {
                fit(&recipe, Family { cell, rank_share_w: None, rank_share_u: None }, data, &self.budget)
            }
        };
        let Ok(Some(recipe)) = recipe else { return Ok(None) };
        Ok(self.finish(recipe, data).ok().flatten())
    }

    /// The network of these choices. An error says why there is none.
    pub fn candidate(
        &self,
        choices: &Table,
        datasets: &mut Datasets,
    ) -> Result<Result<TrialNetwork, String>, SearchError> {
        let recipe = match self.recipe(choices) {
            Ok(recipe) => recipe,
            Err(why) => return Ok(Err(why)),
        };
        let data = match datasets.of(&recipe) {
            // Data that was read otherwise can be read; this way of reading it does not fit.
            Err(error) if recipe.request() != self.base.request() => return Ok(Err(error.to_string())),
            read => read?,
        };
        let sized = self.sized(recipe, choices, data);
        let made = sized.and_then(|recipe| match recipe {
            Some(recipe) => self.finish(lengthened(recipe, choices, data)?, data),
            None => Ok(None),
        });
        Ok(made.and_then(|made| made.ok_or_else(|| "no number of units fits the budget".to_owned())))
    }

    /// The recipe with the choices that are keys.
    fn recipe(&self, choices: &Table) -> Result<Recipe, String> {
        let mut table = Table::new();
        let augment = self.base.preparation.augment.unwrap_or_else(AugmentSetting::none);
        if choices.keys().any(|name| name.starts_with("augment.")) {
            let augment = Table::try_from(augment).map_err(|error| error.to_string())?;
            table.insert("augment".into(), Value::Table(augment));
        }
        for (name, value) in choices {
            if name != BITS && !Proportion::ALL.iter().any(|proportion| proportion.name() == name) {
                put(&mut table, name, value.clone());
            }
        }
        let text = toml::to_string(&table).map_err(|error| error.to_string())?;
        let over = Recipe::from_toml_str(&text, "the choices").map_err(|error| error.to_string())?;
        let mut recipe = self.quantized(self.base.clone().overlay(over));
        if let Some(bits) = choices.get(BITS) {
            store_in(&mut recipe, bits);
        }
        if let Some(augment) = &mut recipe.preparation.augment {
            let is_chosen = |name: &str| choices.contains_key(name);
            // A width without a mask, and a mask without a width, are errors: the width that was chosen decides.
            if is_chosen("augment.time-width") && !is_chosen("augment.time-masks") {
                augment.time_masks =
                    usize::from(augment.time_width > 0).max(augment.time_masks.min(augment.time_width));
            }
            if is_chosen("augment.freq-width") && !is_chosen("augment.freq-masks") {
                augment.freq_masks =
                    usize::from(augment.freq_width > 0).max(augment.freq_masks.min(augment.freq_width));
            }
        }
        recipe.forget_other_cell(self.base.network.chosen_cell());
        recipe.forget_other_stages(self.base);
        Ok(recipe)
    }

    /// Whether the recipe or the space says how many units there are.
    fn has_units(&self) -> bool {
        self.base.network.hidden.is_some() || self.space.has("hidden")
    }

    fn quantized(&self, mut recipe: Recipe) -> Recipe {
        if !self.budget.is_empty() {
            recipe.quantization.quantize = Some(true);
        }
        recipe
    }

    /// The recipe with its units and ranks, if there are some.
    fn sized(&self, recipe: Recipe, choices: &Table, data: &Dataset) -> Result<Option<Recipe>, String> {
        let share = |proportion| chosen(choices, proportion);
        let cell = recipe.network.chosen_cell();
        let family =
            Family { cell, rank_share_w: share(Proportion::RankW), rank_share_u: share(Proportion::RankU) };
        if self.has_units() || self.budget.is_empty() {
            return Ok(Some(match recipe.network.hidden {
                Some(hidden) => family.sized(&recipe, data, hidden),
                None => recipe,
            }));
        }
        let filled = share(Proportion::Budget).unwrap_or(1.0);
        let bytes = self.budget.bytes.map(|bytes| (bytes as f64 * filled) as usize);
        fit(&recipe, family, data, &Budget { bytes, ..self.budget })
    }

    /// The candidate of a recipe, if the budget allows it.
    fn finish(&self, recipe: Recipe, data: &Dataset) -> Result<Option<TrialNetwork>, String> {
        let config = recipe.resolve(data).map_err(|error| error.to_string())?;
        if !self.budget.is_empty() && !self.budget.allows(&config, data) {
            return Ok(None);
        }
        let size = self.size(&config, data);
        let refit = refit(&recipe, &config, data);
        Ok(Some(TrialNetwork { recipe, config, size, refit }))
    }

    fn size(&self, config: &Config, data: &Dataset) -> Size {
        if !config.quantization.quantize {
            return Size { bytes: 4 * config.network(data).layout().len(), ..Size::default() };
        }
        let bytes = config.image_bytes(data);
        let Some(board) = self.budget.limits.named_board() else { return Size { bytes, ..Size::default() } };
        let footprint = config.footprint(data);
        // The form of code that the limits hold for.
        let forms = [CodeForm::Straight, CodeForm::Loops].map(|form| footprint.estimate_form(board, form));
        let estimate = forms.into_iter().flatten().find(|estimate| estimate.fits());
        let estimate = estimate.unwrap_or_else(|| footprint.estimate(board));
        let ms = estimate.ms_per_inference(data.train.x.max_steps());
        Size { bytes, ram: Some(estimate.ram_bytes()), ms }
    }
}

/// A validation part that was cut off from the training data has done its work once a network is chosen: the network
/// that is delivered learns from it, too. One that the data set has for itself stays apart.
fn refit(recipe: &Recipe, config: &Config, data: &Dataset) -> Option<Refit> {
    let is_cut_off = data.validation.is_none() && data.text.is_none() && !config.preparation.cv.is_on();
    (recipe.training.refit.is_none() && is_cut_off).then_some(Refit::Full)
}

/// The recipe with the most units that fit, if any do.
fn fit(recipe: &Recipe, family: Family, data: &Dataset, budget: &Budget) -> Result<Option<Recipe>, String> {
    let most = family.most_units(recipe, data, budget).map_err(|error| error.to_string())?;
    Ok(most.map(|hidden| family.sized(recipe, data, hidden)))
}

/// Gives all matrices that can have them entries of so many bits. Those of 4 bits are not pruned.
fn store_in(recipe: &mut Recipe, bits: &Value) {
    let is_four = *bits == Value::Integer(4);
    let bits = if is_four { WeightBits::Four } else { WeightBits::Eight };
    let (network, quantization, sparsity) = (&recipe.network, &mut recipe.quantization, &mut recipe.sparsity);
    let has_u = network.chosen_cell().declaration().reads_state;
    let may_be_tied = recipe.text.task == Some(TaskKind::LanguageModel) && network.tied != Some(false);
    let plain_w = network.form_w.unwrap_or_default() == FormSetting::Full;
    let plain_u = has_u && network.form_u.unwrap_or_default() == RecurrentForm::Full;
    for (can, own) in [
        (plain_w, &mut quantization.bits_w),
        (plain_u, &mut quantization.bits_u),
        (!may_be_tied, &mut quantization.bits_head),
    ] {
        if can {
            *own = Some(bits);
        }
    }
    if is_four {
        (sparsity.keep_w, sparsity.keep_u, sparsity.keep_head) = (None, None, None);
    }
}

/// The recipe with its epochs, if they are chosen in proportion.
fn lengthened(recipe: Recipe, choices: &Table, data: &Dataset) -> Result<Recipe, String> {
    let Some(times) = chosen(choices, Proportion::Epochs) else { return Ok(recipe) };
    let usual = recipe.resolve(data).map_err(|error| error.to_string())?.training.epochs;
    let epochs = ((usual as f64 * times).round() as usize).max(1);
    Ok(recipe.with(|r| r.training.epochs = Some(epochs)))
}

fn chosen(choices: &Table, proportion: Proportion) -> Option<f64> {
    choices.get(proportion.name()).and_then(number)
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_of_4_bits_are_those_that_there_are_and_are_not_pruned() {
        let recipe = |cell: &str| {
            let text = format!("cell = \"{cell}\"\nkeep-w = 0.5\nkeep-u = 0.5\nkeep-head = 0.5\n");
            Recipe::from_toml_str(&text, "test").unwrap()
        };
        for (cell, bits_u) in [("fastgrnn", Some(WeightBits::Four)), ("mingru", None)] {
            let mut made = recipe(cell);
            store_in(&mut made, &Value::Integer(4));
            assert_eq!(made.quantization.bits_w, Some(WeightBits::Four));
            assert_eq!(
                (made.quantization.bits_head, made.quantization.bits_u),
                (Some(WeightBits::Four), bits_u)
            );
            assert_eq!(
                (made.sparsity.keep_w, made.sparsity.keep_u, made.sparsity.keep_head),
                (None, None, None)
            );
        }
        // A diagonal is not rounded to 4 bits, and neither is a head that may be the table of tokens.
        let text = "form-w = \"diagonal\"\nform-u = \"diagonal\"\ntask = \"lm\"\n";
        let mut other = Recipe::from_toml_str(text, "test").unwrap();
        store_in(&mut other, &Value::Integer(4));
        let bits = &other.quantization;
        assert_eq!((bits.bits_w, bits.bits_u, bits.bits_head), (None, None, None));
        let mut eight = recipe("fastgrnn");
        store_in(&mut eight, &Value::Integer(8));
        assert_eq!((eight.quantization.bits_u, eight.sparsity.keep_u), (Some(WeightBits::Eight), Some(0.5)));
    }
}
