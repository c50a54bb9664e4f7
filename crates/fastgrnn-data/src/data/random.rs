//! Random data: `random:N` instead of the name of a data set.
//!
//! A network can be measured on a board, or held against another, before there are recordings for
//! it. These sequences move as sensors do: each feature wanders about its mean and forgets where it
//! was after some ten steps. Their values are those of the model that they are for (its means and
//! deviations, so that raw counts span what they spanned in training), their labels are drawn. The
//! same text gives the same bits everywhere.

use super::{DataError, Dataset, Examples, Expect, Labels, Request, Sequences, Unlabelled};
use fastgrnn_core::rng::{Rng, stream};

/// What random data is called by.
const PREFIX: &str = "random:";
/// How much of its distance from the mean a feature keeps from one step to the next.
const MEMORY: f64 = 0.9;
/// No value lies further from its mean than this many deviations, as no sensor reads further than
/// its range.
const FURTHEST: f64 = 4.0;
/// Most of anything that is counted.
const MOST: u64 = u32::MAX as u64;

/// Random sequences by their features: the walk of each, scaled to a mean and a deviation.
///
/// ```
/// use fastgrnn_data::data::RandomWalks;
/// let walks = RandomWalks { seed: 1, mean: vec![20.0, -1.0], spread: vec![3.0, 0.1] };
/// let x = walks.sequences(5, 50);
/// assert_eq!((x.len(), x.dim(), x.max_steps()), (5, 2, 50));
/// assert!(x.get(4).chunks(2).all(|step| (8.0..=32.0).contains(&step[0])));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalks {
    /// What they are drawn from.
    pub seed: u64,
    /// Mean of each feature.
    pub mean: Vec<f32>,
    /// Deviation of each.
    pub spread: Vec<f32>,
}

impl RandomWalks {
    /// The first `n` sequences, of `steps` steps each.
    pub fn sequences(&self, n: usize, steps: usize) -> Sequences {
        let dim = self.mean.len();
        let mut x = Sequences::new(dim);
        for i in 0..n {
            let mut rng = Rng::keyed(self.seed, &[stream::RANDOM_DATA, i as u64]);
            let mut walk: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
            let mut values = Vec::with_capacity(steps * dim);
            for _ in 0..steps {
                for ((at, mean), spread) in walk.iter_mut().zip(&self.mean).zip(&self.spread) {
                    let value = f64::from(*mean) + f64::from(*spread) * at.clamp(-FURTHEST, FURTHEST);
                    values.push(value as f32);
                    *at = MEMORY * *at + (1.0 - MEMORY * MEMORY).sqrt() * rng.normal();
                }
            }
            x.push(&values);
        }
        x
    }

    /// The class of each of the first `n` sequences, out of `classes`.
    fn labels(&self, n: usize, classes: usize) -> Vec<u32> {
        let label = |i| Rng::keyed(self.seed, &[stream::RANDOM_LABEL, i as u64]).below(classes) as u32;
        (0..n).map(label).collect()
    }
}

/// `random:N[,steps=T][,features=D][,classes=L][,seed=S]`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RandomSpec {
    n: usize,
    steps: Option<usize>,
    features: Option<usize>,
    classes: Option<usize>,
    seed: u64,
}

fn wrong(source: &str, problem: impl Into<String>) -> DataError {
    DataError::RandomSource { source_name: source.to_owned(), problem: problem.into() }
}

impl RandomSpec {
    /// What `source` asks for, if it asks for random data.
    fn read(source: &str) -> Option<Result<Self, DataError>> {
        let mut words = source.strip_prefix(PREFIX)?.split(',');
        let n = words.next().unwrap_or_default();
        Some(count(source, "the number of sequences", n).and_then(|n| {
            let requested = Self { n, ..Self::default() };
            words.try_fold(requested, |requested, word| requested.with(source, word))
        }))
    }

    fn with(mut self, source: &str, word: &str) -> Result<Self, DataError> {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "steps" => self.steps = Some(count(source, key, value)?),
            "features" => self.features = Some(count(source, key, value)?),
            "classes" => self.classes = Some(count(source, key, value)?),
            "seed" => {
                let seed = value.parse();
                self.seed = seed.map_err(|_| wrong(source, format!("'{value}' is not a seed")))?;
            }
            _ => {
                let known = "random:N may be followed by ,steps=T ,features=D ,classes=L and ,seed=S";
                return Err(wrong(source, format!("'{word}' is not an option of random data; {known}")));
            }
        }
        Ok(self)
    }

    /// Steps of a sequence, features and class names: those of the source, else the model's.
    fn shape(self, source: &str, expect: Option<&Expect>) -> Result<(usize, usize, Vec<String>), DataError> {
        let of_model = expect.map(|e| e.dim).filter(|&dim| dim > 0);
        let features = match (self.features, of_model) {
            (Some(requested), Some(dim)) if requested != dim => {
                let problem = format!("the model reads {dim} features, not {requested}; leave out features=");
                return Err(wrong(source, problem));
            }
            (requested, of_model) => requested.or(of_model).ok_or_else(|| {
                let problem = "without a model the number of features is not known; \
                               give it, as in random:100,features=3,steps=50,classes=2";
                wrong(source, problem)
            })?,
        };
        let of_model = expect.map(|e| e.steps).filter(|&steps| steps > 0);
        let steps = self.steps.or(of_model).ok_or_else(|| {
            wrong(source, format!("the length of a sequence is not known; give it, as in {source},steps=50"))
        })?;
        let own = expect.map(|e| e.classes.as_slice()).unwrap_or_default();
        let classes = match (self.classes, expect) {
            (Some(1), _) => return Err(wrong(source, "1 class: a classifier needs at least two")),
            (Some(requested), Some(_)) if requested != own.len() => {
                let problem =
                    format!("the model has {} classes, not {requested}; leave out classes=", own.len());
                return Err(wrong(source, problem));
            }
            (Some(requested), None) => (0..requested).map(|i| format!("class{i}")).collect(),
            _ => own.to_vec(),
        };
        Ok((steps, features, classes))
    }
}

fn count(source: &str, what: &str, value: &str) -> Result<usize, DataError> {
    let number = value.parse().ok().filter(|n| (1..=MOST).contains(n));
    number.map(|n: u64| n as usize).ok_or_else(|| {
        wrong(source, format!("{what}: '{value}' is not a number of at least 1; write random:100"))
    })
}

/// The random data that `request` asks for, if it does.
pub(super) fn load(request: &Request) -> Option<Result<Dataset, DataError>> {
    Some(RandomSpec::read(&request.source)?.and_then(|requested| {
        request.check_no_columns("random data")?;
        draw(requested, request)
    }))
}

/// The same without labels.
pub(super) fn load_unlabelled(source: &str, request: &Request) -> Option<Result<Unlabelled, DataError>> {
    let requested = RandomSpec::read(source)?;
    let request = Request { source: source.to_owned(), ..request.clone() };
    Some(requested.and_then(|requested| draw(requested, &request)).map(|data| Unlabelled {
        ids: (0..data.train.len()).map(|i| i.to_string()).collect(),
        x: data.train.x,
        features: data.features,
        notes: data.notes,
    }))
}

fn draw(requested: RandomSpec, request: &Request) -> Result<Dataset, DataError> {
    let (source, expect) = (&request.source, request.expect.as_ref());
    let (steps, features, classes) = requested.shape(source, expect)?;
    let bytes = [requested.n, steps, features].iter().fold(4u64, |b, &k| b.saturating_mul(k as u64));
    if bytes > request.data.size_limit {
        return Err(DataError::TooLarge { file: source.clone(), limit: request.data.size_limit });
    }
    let of_model = |values: &dyn Fn(&Expect) -> Vec<f32>, otherwise: f32| {
        let known = expect.map(values).filter(|values| values.len() == features);
        known.unwrap_or_else(|| vec![otherwise; features])
    };
    let walks = RandomWalks {
        seed: requested.seed,
        mean: of_model(&|e| e.mean.clone(), 0.0),
        spread: of_model(&|e| e.spread.clone(), 1.0),
    };
    let y = match classes.len() {
        0 if expect.is_none() => {
            let hint = "say how many classes there are, as in random:100,features=3,steps=50,classes=2";
            return Err(DataError::NoLabels { file: source.clone(), hint: hint.into() });
        }
        0 => Labels::None,
        classes_len => Labels::Class { index: walks.labels(requested.n, classes_len), names: classes },
    };
    let note = format!("{} random sequences of {steps} steps, seed {}", requested.n, requested.seed);
    Ok(Dataset::new(source.clone(), Examples::new(walks.sequences(requested.n, steps), y))
        .with_features(expect.and_then(|e| e.features.clone()))
        .with_notes(vec![note]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(source: &str) -> Request {
        let expect = Expect {
            dim: 2,
            steps: 40,
            classes: vec!["a".into(), "b".into(), "c".into()],
            mean: vec![100.0, 0.0],
            spread: vec![10.0, 0.5],
            ..Expect::default()
        };
        Request { expect: Some(expect), ..Request::new(source) }
    }

    #[test]
    fn random_data_has_the_model_s_shape_and_size() {
        let data = load(&request("random:200")).unwrap().unwrap();
        assert_eq!((data.train.len(), data.train.x.dim(), data.train.x.min_steps()), (200, 2, 40));
        assert_eq!(data.train.classes(), 3);
        let of = |k: usize| -> Vec<f64> {
            let all = (0..200).flat_map(|i| data.train.x.get(i).chunks(2));
            all.map(|step| f64::from(step[k])).collect()
        };
        for (k, mean, spread) in [(0, 100.0, 10.0), (1, 0.0, 0.5)] {
            let values = of(k);
            let found = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|v| (v - found).powi(2)).sum::<f64>() / values.len() as f64;
            assert!((found - mean).abs() < 0.1 * spread, "{found}");
            assert!((variance.sqrt() / spread - 1.0).abs() < 0.1, "{variance}");
        }
        let Labels::Class { index, .. } = &data.train.y else { panic!("labels are classes") };
        assert!((0..3).all(|class| index.contains(&class)));
    }

    #[test]
    fn more_sequences_begin_with_the_same_ones_and_another_seed_has_others() {
        let x = |source: &str| load(&request(source)).unwrap().unwrap().train.x;
        assert_eq!(x("random:3").get(2), x("random:9").get(2));
        assert_ne!(x("random:3").get(2), x("random:3,seed=1").get(2));
        assert_eq!(x("random:1,steps=7").max_steps(), 7);
    }

    #[test]
    fn without_a_model_the_text_says_everything() {
        let request = |source: &str| Request::new(source);
        let data = load(&request("random:6,features=3,steps=5,classes=2")).unwrap().unwrap();
        assert_eq!((data.train.x.dim(), data.train.classes()), (3, 2));
        for (source, part) in [
            ("random:6", "features=3"),
            ("random:6,features=3", "steps=50"),
            ("random:6,features=3,steps=4", "classes"),
            ("random:6,features=3,steps=4,classes=1", "at least two"),
        ] {
            let error = load(&request(source)).unwrap().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (source, part) in [
            ("random:", "random:100"),
            ("random:0", "'0'"),
            ("random:-3", "'-3'"),
            ("random:3,T", "'T' is not an option"),
            ("random:3,steps", "''"),
            ("random:3,seed=x", "'x'"),
            ("random:3,features=9", "reads 2 features"),
            ("random:3,classes=2", "has 3 classes"),
            ("random:4294967295,steps=4294967295", "`size-limit`"),
        ] {
            let error = load(&request(source)).unwrap().unwrap_err().to_string();
            assert!(error.contains(source) && error.contains(part), "{error}");
        }
        assert!(load(&request("digits")).is_none());
    }
}
