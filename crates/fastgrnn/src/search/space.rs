//! What a search may change: settings, and the values that each may have.

use super::SearchError;
use super::sizing::Budget;
use crate::train::{Recipe, RecipeError, SEARCH_KEY};
use fastgrnn_core::rng::Rng;
use fastgrnn_core::settings::Group;
use fastgrnn_model::settings::{
    NetworkRecipe, ParameterRecipe, PreparationRecipe, SparsityRecipe, TrainingRecipe,
};
use std::fmt;
use toml::{Table, Value};

/// The table of a recipe whose entries a search may change one by one.
const AUGMENT: &str = "augment";
/// The name that stands for the bits of all matrices.
pub(super) const BITS: &str = "bits";
/// Digits that a number from a range keeps.
const DIGITS: usize = 3;

/// What a search may change.
///
/// ```
/// use fastgrnn::search::Space;
/// let text = "[search]\nlr = { from = 0.001, to = 0.1, scale = \"log\" }\ncell = [\"fastgrnn\", \"gru\"]";
/// let space = Space::from_toml_str(text, "example.toml")?.unwrap();
/// assert_eq!(space.dimensions().len(), 2);
/// # Ok::<(), fastgrnn::train::RecipeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    dimensions: Vec<Dimension>,
}

/// A setting that a search changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// A key of a recipe, `augment.` and an augmentation, or the name of a [`Proportion`].
    pub name: String,
    /// What it may be.
    pub values: Values,
}

/// The values of a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One of these, in no order.
    List(Vec<Value>),
    /// A number between two others.
    Range(Range),
}

/// Numbers from `from` to `to`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// Whether ratios count, not differences.
    pub is_log: bool,
    /// Whether only whole numbers do.
    pub is_whole: bool,
}

/// What a search chooses in proportion: sizes, because the number of units follows from the budget, and the length of
/// a training, because it follows from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proportion {
    /// The share of the budget that the network may fill.
    Budget,
    /// Entries of the factors of W as a share of the full matrix's; 1 for full rank.
    RankW,
    /// The same of U.
    RankU,
    /// Epochs of a whole training, as a multiple of those that the recipe sets or that are its default.
    Epochs,
}

impl Proportion {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Budget, Self::RankW, Self::RankU, Self::Epochs];

    /// Its name in a space.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget-share",
            Self::RankW => "rank-share-w",
            Self::RankU => "rank-share-u",
            Self::Epochs => "epochs-times",
        }
    }

    /// The most that it can be.
    fn most(self) -> f64 {
        match self {
            Self::Budget | Self::RankW | Self::RankU => 1.0,
            Self::Epochs => 100.0,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|proportion| proportion.name() == name)
    }
}

/// A choice of a value for each dimension: of a list the place of the value, of a range the place between its ends,
/// from 0 to 1.
pub type Point = Vec<f64>;

impl Range {
    /// The value at a place between the ends, rounded to a few digits.
    fn value(&self, place: f64) -> f64 {
        let exact = match self.is_log {
            true => (self.from.ln() + place * (self.to.ln() - self.from.ln())).exp(),
            false => self.from + place * (self.to - self.from),
        };
        let value = if self.is_whole { exact.round() } else { rounded(exact) };
        value.clamp(self.from, self.to)
    }

    fn place(&self, value: f64) -> f64 {
        let scaled = |v: f64| if self.is_log { v.ln() } else { v };
        let width = scaled(self.to) - scaled(self.from);
        if width > 0.0 { ((scaled(value) - scaled(self.from)) / width).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// A number with few digits. Different machines may round the last bit of a logarithm differently; this hides it.
fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

impl Values {
    /// The value at a coordinate.
    pub fn at(&self, coordinate: f64) -> Value {
        match self {
            Self::List(list) => list[(coordinate as usize).min(list.len() - 1)].clone(),
            Self::Range(range) if range.is_whole => Value::Integer(range.value(coordinate) as i64),
            Self::Range(range) => Value::Float(range.value(coordinate)),
        }
    }

    /// The coordinate of a value, if it is one of these.
    pub fn coordinate(&self, value: &Value) -> Option<f64> {
        match self {
            Self::List(list) => list.iter().position(|v| v == value).map(|place| place as f64),
            Self::Range(range) => number(value).map(|number| range.place(number)),
        }
    }

    /// A coordinate drawn evenly.
    pub(super) fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Self::List(list) => rng.below(list.len()) as f64,
            Self::Range(_) => rng.uniform(),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::List(list) => {
                let texts: Vec<String> = list.iter().map(value_text).collect();
                f.write_str(&texts.join(", "))
            }
            Self::Range(range) => write!(f, "{} to {}", range.from, range.to),
        }
    }
}

/// A value as people read it: text without quotes.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Space {
    /// A space of these dimensions, each of which has values. They are in the order of their names: a point is drawn in
    /// the order of the dimensions, and a space has to be the same once it was stored and read.
    pub(super) fn of(mut dimensions: Vec<Dimension>) -> Self {
        dimensions.sort_by(|a, b| a.name.cmp(&b.name));
        Self { dimensions }
    }

    /// The settings that change.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Whether a setting of this name changes.
    pub fn has(&self, name: &str) -> bool {
        self.dimensions.iter().any(|dimension| dimension.name == name)
    }

    /// The space that the text of a recipe declares, if it does; `file` names it in errors.
    pub fn from_toml_str(text: &str, file: &str) -> Result<Option<Self>, RecipeError> {
        let document = toml::de::DeTable::parse(text).map_err(|error| syntax(text, file, &error))?;
        let Some((_, section)) = document.get_ref().iter().find(|(key, _)| key.get_ref() == SEARCH_KEY)
        else {
            return Ok(None);
        };
        let wrong = |at: usize, message: String| RecipeError::Syntax {
            file: file.to_owned(),
            line: 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count(),
            message,
        };
        let toml::de::DeValue::Table(table) = section.get_ref() else {
            let message = "`search` is a table of settings and their values, as in [search]".to_owned();
            return Err(wrong(section.span().start, message));
        };
        let whole: Table = toml::from_str(text).map_err(|error| syntax(text, file, &error))?;
        let declared = whole.get(SEARCH_KEY).and_then(Value::as_table).cloned().unwrap_or_default();
        let mut dimensions = Vec::new();
        for (key, entry) in table {
            let name = key.get_ref();
            let one = Table::from_iter([(name.to_string(), declared[name.as_ref()].clone())]);
            dimensions.extend(read(&one).map_err(|what| wrong(entry.span().start, what))?);
        }
        if dimensions.is_empty() {
            return Err(wrong(section.span().start, "[search] names no setting".to_owned()));
        }
        Ok(Some(Self::of(dimensions)))
    }

    /// Refuses dimensions that have no effect: shares of a budget that there is not, and ranks in proportion to units that
    /// nothing says.
    pub fn check(&self, recipe: &Recipe, budget: &Budget) -> Result<(), SearchError> {
        let without = |proportion: Proportion, what: &str| {
            let name = proportion.name();
            SearchError::Nothing(vec![format!("`{name}` of [search] has no effect without {what}")])
        };
        if self.has(Proportion::Budget.name()) && budget.bytes.is_none() {
            return Err(without(Proportion::Budget, "a budget of bytes"));
        }
        if self.has(BITS) && budget.is_empty() && recipe.quantization.quantize != Some(true) {
            let what = "a budget or `quantize`: float models have weights of 32 bits";
            return Err(SearchError::Nothing(vec![format!(
                "`{BITS}` of [search] has no effect without {what}"
            )]));
        }
        if let Some(key) =
            ["bits-w", "bits-u", "bits-head"].iter().find(|key| self.has(BITS) && self.has(key))
        {
            return Err(SearchError::Nothing(vec![format!(
                "[search] has `{BITS}` and `{key}`, which say the same; leave one of them out"
            )]));
        }
        let has_units = !budget.is_empty() || recipe.network.hidden.is_some() || self.has("hidden");
        let ranks = [Proportion::RankW, Proportion::RankU];
        match ranks.into_iter().find(|rank| self.has(rank.name()) && !has_units) {
            Some(rank) => Err(without(rank, "a budget or `hidden`")),
            None => Ok(()),
        }
    }

    /// The space that a table declares.
    pub(super) fn from_table(table: &Table) -> Result<Self, String> {
        Ok(Self::of(read(table)?))
    }

    /// The space as it is declared.
    pub fn to_table(&self) -> Table {
        let mut table = Table::new();
        for Dimension { name, values } in &self.dimensions {
            let declared = match values {
                Values::List(list) => Value::Array(list.clone()),
                Values::Range(range) => Value::Table(range.to_table()),
            };
            match name.split_once('.') {
                Some((AUGMENT, name)) => {
                    let inner = table.entry(AUGMENT).or_insert_with(|| Value::Table(Table::new()));
                    if let Value::Table(inner) = inner {
                        inner.insert(name.to_owned(), declared);
                    }
                }
                _ => drop(table.insert(name.clone(), declared)),
            }
        }
        table
    }

    /// The names and values that a point chooses.
    pub(super) fn choices(&self, point: &[f64]) -> Table {
        let pairs = self.dimensions.iter().zip(point);
        pairs.map(|(dimension, &at)| (dimension.name.clone(), dimension.values.at(at))).collect()
    }

    /// The point of such names and values.
    pub(super) fn point(&self, choices: &Table) -> Option<Point> {
        let coordinate = |d: &Dimension| d.values.coordinate(choices.get(&d.name)?);
        self.dimensions.iter().map(coordinate).collect()
    }
}

impl Range {
    fn to_table(self) -> Table {
        let number = |value: f64| match self.is_whole {
            true => Value::Integer(value as i64),
            false => Value::Float(value),
        };
        let mut table =
            Table::from_iter([("from".to_owned(), number(self.from)), ("to".to_owned(), number(self.to))]);
        if self.is_log {
            table.insert("scale".into(), Value::String("log".into()));
        }
        table
    }
}

fn syntax(text: &str, file: &str, error: &toml::de::Error) -> RecipeError {
    let at = error.span().map_or(0, |span| span.start);
    RecipeError::Syntax {
        file: file.to_owned(),
        line: 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count(),
        message: error.message().to_owned(),
    }
}

/// The dimensions of a table of declarations.
fn read(table: &Table) -> Result<Vec<Dimension>, String> {
    let mut dimensions = Vec::new();
    for (key, declared) in table {
        match (key.as_str(), declared) {
            (AUGMENT, Value::Table(inner)) => {
                for (name, declared) in inner {
                    dimensions.push(dimension(format!("{AUGMENT}.{name}"), declared)?);
                }
            }
            _ => dimensions.push(dimension(key.clone(), declared)?),
        }
    }
    for (place, own) in dimensions.iter().enumerate() {
        if dimensions[..place].iter().any(|other| other.name == own.name) {
            return Err(format!("`{}` is there twice", own.name));
        }
    }
    Ok(dimensions)
}

fn dimension(name: String, declared: &Value) -> Result<Dimension, String> {
    let values = match declared {
        Value::Array(list) if list.is_empty() => return Err(format!("`{name}` has no values")),
        Value::Array(list) => Values::List(list.clone()),
        Value::Table(_) if name == BITS => return Err(format!("`{name}`: use a list, [8, 4]")),
        Value::Table(table) => Values::Range(range(&name, table)?),
        other => {
            return Err(format!(
                "`{name} = {other}`: use a list of values, [1, 2], or a range, {{ from = 1, to = 2 }}"
            ));
        }
    };
    let tried: Vec<Value> = match &values {
        Values::List(list) => list.clone(),
        Values::Range(_) => [0.0, 1.0].map(|place| values.at(place)).to_vec(),
    };
    tried.iter().try_for_each(|value| check(&name, value))?;
    Ok(Dimension { name, values })
}

fn range(name: &str, table: &Table) -> Result<Range, String> {
    if let Some(key) = table.keys().find(|key| !["from", "to", "scale"].contains(&key.as_str())) {
        return Err(format!("`{name}`: a range has the keys from, to and scale, not `{key}`"));
    }
    let end = |key: &str| table.get(key).and_then(number).filter(|end| end.is_finite());
    let (Some(from), Some(to)) = (end("from"), end("to")) else {
        return Err(format!("`{name}`: a range needs two numbers, from and to"));
    };
    let is_log = match table.get("scale").map(|scale| scale.as_str()) {
        None | Some(Some("linear")) => false,
        Some(Some("log")) => true,
        Some(_) => return Err(format!("`{name}`: scale is \"linear\" or \"log\"")),
    };
    if from >= to || (is_log && from <= 0.0) {
        let least = if is_log { "above 0 and " } else { "" };
        return Err(format!("`{name}` from {from} to {to}: from must be {least}below to"));
    }
    let is_whole = ["from", "to"].iter().all(|key| table[*key].is_integer());
    Ok(Range { from, to, is_log, is_whole })
}

/// Whether a setting can have a value.
fn check(name: &str, value: &Value) -> Result<(), String> {
    if let Some(proportion) = Proportion::named(name) {
        let most = proportion.most();
        return match number(value).is_some_and(|number| number > 0.0 && number <= most) {
            true => Ok(()),
            false => Err(format!("`{name} = {value}`: it must be above 0 and at most {most}")),
        };
    }
    if name == BITS {
        return match value {
            Value::Integer(8 | 4) => Ok(()),
            _ => Err(format!("`{name} = {value}`: it must be 8 or 4")),
        };
    }
    let key = name.split('.').next().unwrap_or_default();
    let mut table = Table::new();
    put(&mut table, name, value.clone());
    let text = toml::to_string(&table).map_err(|error| error.to_string())?;
    let recipe = Recipe::from_toml_str(&text, "").map_err(|error| match error {
        RecipeError::Syntax { message, .. } => format!("`{name} = {value}`: {}", message.trim()),
        RecipeError::UnknownKey { key, nearest, .. } => match nearest {
            Some(nearest) => format!("unknown setting `{key}`; did you mean `{nearest}`?"),
            None => format!("unknown setting `{key}`; docs/recipes.md lists them"),
        },
        other => other.to_string(),
    })?;
    if !can_change(key) {
        return Err(format!(
            "`{name}` cannot be searched: it decides what is learnt, or how networks are compared"
        ));
    }
    recipe.check_ranges().map_err(|error| error.to_string())
}

/// Whether a search may change a key of a recipe: those of the network and its training, and of how data is read only
/// those that leave the examples as they are.
fn can_change(key: &str) -> bool {
    let groups = [
        NetworkRecipe::keys(),
        ParameterRecipe::keys(),
        SparsityRecipe::keys(),
        PreparationRecipe::keys(),
        TrainingRecipe::keys(),
    ];
    let is_of_training = groups.iter().flatten().any(|known| known.name() == key);
    (is_of_training && !FIXED.contains(&key)) || READING.contains(&key) || STORING.contains(&key)
}

/// Keys of how data is read that a search may change.
const READING: [&str; 2] = ["timesteps", "features"];

/// Keys about integers that a search may change.
const STORING: [&str; 4] = ["bits-w", "bits-u", "bits-head", "bits-bias"];

/// Keys of the training that the search itself decides, or that decide how networks are compared.
const FIXED: [&str; 12] = [
    "val-split",
    "val-group",
    "cv",
    "split-seed",
    "seed",
    "seeds",
    "epochs",
    "refit",
    "positive",
    "class-weight",
    "loss",
    "checkpoint-every",
];

/// Sets the value of a key, or of an augmentation.
pub(super) fn put(table: &mut Table, name: &str, value: Value) {
    match name.split_once('.') {
        Some((AUGMENT, name)) => {
            let entry = table.entry(AUGMENT).or_insert_with(|| Value::Table(Table::new()));
            match entry {
                Value::Table(inner) => drop(inner.insert(name.to_owned(), value)),
                // `augment = "none"`
                other => *other = Value::Table(Table::from_iter([(name.to_owned(), value)])),
            }
        }
        _ => drop(table.insert(name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Result<Space, String> {
        Space::from_toml_str(text, "r.toml").map(Option::unwrap).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_ranges_and_augmentations_are_read_and_written_alike() {
        let text = "hidden = 8\n[search]\nlr = { from = 0.001, to = 0.1, scale = \"log\" }\n\
                    hidden = { from = 4, to = 64 }\nbits = [8, 4]\ncell = [\"gru\", \"lstm\"]\nrank-share-u = [1.0, 0.5]\n\
                    [search.augment]\nnoise = [0.0, 0.1]\n";
        let space = space(text).unwrap();
        let names: Vec<&str> = space.dimensions().iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["augment.noise", "bits", "cell", "hidden", "lr", "rank-share-u"]);
        assert_eq!(Space::from_table(&space.to_table()).unwrap(), space);
        assert_eq!(Recipe::from_toml_str(text, "r.toml").unwrap().network.hidden, Some(8));
    }

    #[test]
    fn a_space_is_the_same_once_it_was_stored() {
        let list =
            |name: &str| Dimension { name: name.into(), values: Values::List(vec![Value::Integer(1)]) };
        let space = Space::of(["mixup", "augment.shift", "batch", "augment.noise"].map(list).to_vec());
        assert_eq!(Space::from_table(&space.to_table()).unwrap(), space);
    }

    #[test]
    fn values_have_coordinates_and_coordinates_values() {
        let log = Range { from: 0.001, to: 0.1, is_log: true, is_whole: false };
        let values = Values::Range(log);
        assert_eq!(values.at(0.5), Value::Float(0.01));
        assert_eq!((values.at(0.0), values.at(1.0)), (Value::Float(0.001), Value::Float(0.1)));
        let whole = Values::Range(Range { from: 4.0, to: 64.0, is_log: true, is_whole: true });
        for (at, expected) in [(0.0, 4), (0.5, 16), (1.0, 64)] {
            assert_eq!(whole.at(at), Value::Integer(expected));
            assert!((whole.coordinate(&Value::Integer(expected)).unwrap() - at).abs() < 1e-12);
        }
        let list = Values::List(vec![Value::Boolean(true), Value::Boolean(false)]);
        assert_eq!(list.coordinate(&Value::Boolean(false)), Some(1.0));
        assert_eq!(list.coordinate(&Value::Integer(3)), None);
    }

    #[test]
    fn what_cannot_be_searched_is_refused_with_its_line() {
        for (line, part) in [
            ("lr = 0.1", "line 3: `lr = 0.1`: use a list of values"),
            ("lr = []", "line 3: `lr` has no values"),
            ("lr = [\"fast\"]", "expected a number"),
            ("lr = [-1.0]", "lr"),
            ("lr = { from = 0, to = 1, scale = \"log\" }", "above 0"),
            ("lr = { from = 1, to = 1 }", "below to"),
            ("lr = { from = 1 }", "from and to"),
            ("lr = { from = 1, to = 2, step = 1 }", "not `step`"),
            ("lrr = [1]", "did you mean `lr`"),
            ("seed = [1, 2]", "how networks are compared"),
            ("label-col = [\"a\", \"b\"]", "what is learnt"),
            ("max-ram = [100, 200]", "cannot be searched"),
            ("rank-share-w = [1.5]", "at most 1"),
            ("epochs-times = [0]", "at most 100"),
            ("bits = [8, 5]", "must be 8 or 4"),
            ("bits = { from = 4, to = 8 }", "a list"),
            ("augment = { nois = [1.0] }", "nois"),
            ("cell = [\"grru\"]", "fastgrnn"),
        ] {
            let error = space(&format!("dataset = \"digits\"\n[search]\n{line}\n")).unwrap_err();
            assert!(error.starts_with("r.toml, line 3: ") && error.contains(part), "{line}: {error}");
        }
        assert!(space("search = 3").unwrap_err().contains("[search]"));
        assert!(space("[search]").unwrap_err().contains("no setting"));
    }
}
