//! The paper's bounds of convergence and generalisation, evaluated for a network and a data set.
//!
//! The theorems hide constants in O(αT). Two values are given for each bound. One has αT with the constant 1. The other
//! has a sum of powers in place of αT. It also exists where the conditions on α do not hold, and is exponential in T where
//! the base of the powers is above 1. For generalisation, that is twice the Rademacher complexity from the recursion of
//! the proof. For convergence, the Lipschitz constant of the proof has more terms, so that the value only shows how the
//! bound scales.

use serde::Serialize;

/// A number that a bound is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundQuantity {
    /// The letter in the paper.
    pub symbol: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its value.
    pub value: f64,
    /// `measured`, `derived` or `chosen`.
    pub kind: &'static str,
}

/// What a theorem assumes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// The assumption.
    pub assumption: String,
    /// Whether it holds for this network and data set; nothing where that is not known.
    pub holds: Option<bool>,
    /// The values that decide this.
    pub because: String,
}

/// The bound of the expected loss on new sequences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Generalization {
    /// Mean loss on the training data.
    pub empirical_loss: f64,
    /// Decimal logarithm of R_W·R_U·R_x·R_v·αT/√n: the theorem's term with the constant 1.
    pub log10_theorem_term: f64,
    /// Decimal logarithm of R_v times twice the Rademacher complexity, from the recursion of the proof. The theorem of
    /// Bartlett and Mendelson has that factor of 2: their complexity is twice the one that the paper defines.
    pub log10_recursion_term: f64,
    /// B·√(ln(1/δ)/n)
    pub confidence_term: f64,
    /// Decimal logarithm of the whole bound, with the recursion.
    pub log10_bound: f64,
    /// Whether the bound is below the largest loss, so that it says something.
    pub is_informative: bool,
}

/// The bound of the expected squared norm of the gradient after so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// Steps M of the randomised stochastic gradient.
    pub steps: u64,
    /// Decimal logarithm of the size γ of a step.
    pub log10_step_size: f64,
    /// Decimal logarithm of the bound with αT.
    pub log10_theorem_bound: f64,
    /// Decimal logarithm of the bound with the sum of powers α·Σ(α·𝒟·‖U‖₂ + β)ᵗ in place of αT; nothing where 𝒟 is not
    /// known.
    pub log10_sum_bound: Option<f64>,
}

/// What the bounds come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Theory {
    /// Why the paper has no bounds for this network; nothing where it has.
    pub why_not: Option<String>,
    /// Everything that enters.
    pub quantities: Vec<BoundQuantity>,
    /// What the theorems assume.
    pub conditions: Vec<Condition>,
    /// The generalisation bound; nothing without labels.
    pub generalization: Option<Generalization>,
    /// The convergence bound for several numbers of steps; empty without labels.
    pub convergence: Vec<Convergence>,
}

/// What the bounds are made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ingredients {
    pub alpha: f64,
    pub beta: f64,
    /// Steps T of the longest sequence.
    pub steps: usize,
    /// Sequences n, and which these are.
    pub sequences: usize,
    pub sequences_are: &'static str,
    pub features: usize,
    pub units: usize,
    pub outputs: usize,
    /// Largest slope of the nonlinearity; nothing where it does not enter, because α is 0.
    pub slope: Option<f64>,
    /// Spectral norm of U.
    pub norm_u: f64,
    /// Frobenius norms.
    pub frobenius_u: f64,
    pub frobenius_w: f64,
    pub frobenius_head: f64,
    /// The largest norm of the input of a step.
    pub input: f64,
    /// The largest entry of a bias.
    pub bias: f64,
    /// The mean loss of the sequences before training and now, and the largest loss of one.
    pub first_loss: Option<f64>,
    pub loss: Option<f64>,
    pub largest_loss: Option<f64>,
    /// The probability with which the generalisation bound may fail.
    pub delta: f64,
}

/// Numbers of steps for which the convergence bound is given.
const RUNS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

impl Theory {
    /// The paper has no bounds, for this reason.
    pub(super) fn none(why: String) -> Self {
        Self {
            why_not: Some(why),
            quantities: Vec::new(),
            conditions: Vec::new(),
            generalization: None,
            convergence: Vec::new(),
        }
    }

    pub(super) fn of(given: &Ingredients) -> Self {
        Self {
            why_not: None,
            quantities: given.quantities(),
            conditions: given.conditions(),
            generalization: given.generalization(),
            convergence: RUNS.iter().filter_map(|&steps| given.convergence(steps)).collect(),
        }
    }
}

impl Ingredients {
    fn quantities(&self) -> Vec<BoundQuantity> {
        let of = |symbol, meaning, value, kind| BoundQuantity { symbol, meaning, value, kind };
        let mut all = vec![
            of("T", "time steps of the longest sequence", self.steps as f64, "measured"),
            of("n", self.sequences_are, self.sequences as f64, "measured"),
            of("D", "features of a time step", self.features as f64, "measured"),
            of("D̂", "units", self.units as f64, "measured"),
            of("α", "weight of the update", self.alpha, "measured"),
            of("β", "weight of the old state", self.beta, "measured"),
            of("αT", "what the theorems call O(αT), with the constant 1", self.alpha_t(), "derived"),
            of("‖U‖₂", "spectral norm of U", self.norm_u, "measured"),
            of("R_U", "Frobenius norm of U", self.frobenius_u, "measured"),
            of("R_W", "Frobenius norm of W", self.frobenius_w, "measured"),
            of("R_v", "Frobenius norm of the matrix of the head", self.frobenius_head, "measured"),
            of("R_x", "largest norm of the normalised input of a time step", self.input, "measured"),
            of("δ", "probability with which the generalisation bound may fail", self.delta, "chosen"),
        ];
        let optional = [
            ("𝒟", "largest slope of the nonlinearity on the sequences that were followed", self.slope),
            ("L(θ₀)", "mean loss of the n sequences before training", self.first_loss),
            ("L(θ)", "mean loss of the n sequences", self.loss),
            ("B", "largest loss of the n sequences", self.largest_loss),
        ];
        let known =
            optional.into_iter().filter_map(|(symbol, meaning, value)| Some((symbol, meaning, value?)));
        all.extend(known.map(|(symbol, meaning, value)| of(symbol, meaning, value, "measured")));
        all
    }

    fn alpha_t(&self) -> f64 {
        self.alpha * self.steps as f64
    }

    fn conditions(&self) -> Vec<Condition> {
        let steps = self.steps as f64;
        let no_slope = || "𝒟 is not known: with α = 0, nothing goes through the nonlinearity".to_owned();
        let most = |assumption: &str, limit: Option<f64>| Condition {
            assumption: format!("α ≤ {assumption}"),
            holds: limit.map(|limit| self.alpha <= limit),
            because: limit.map_or_else(no_slope, |limit| {
                format!("α is {}, the limit is {}", short(self.alpha), short(limit))
            }),
        };
        let of_slope = self.slope.map(|slope| 1.0 / (4.0 * steps * (slope * self.norm_u - 1.0).abs()));
        let tie = (self.beta - (1.0 - self.alpha)).abs();
        vec![
            most("1/(4T·|𝒟‖U‖₂ − 1|)", of_slope),
            most("1/(4T·R_U)", Some(1.0 / (4.0 * steps * self.frobenius_u))),
            most("1/(T·|‖U‖₂ − 1|)", Some(1.0 / (steps * (self.norm_u - 1.0).abs()))),
            Condition {
                assumption: "β = 1 − α".into(),
                holds: Some(tie < 1e-6),
                because: format!("β is {}, 1 − α is {}", short(self.beta), short(1.0 - self.alpha)),
            },
            Condition {
                assumption: "two classes with one score v·h".into(),
                holds: Some(self.outputs == 1),
                because: format!(
                    "the head has {}; R_v is then the norm of its whole matrix",
                    fastgrnn_core::format::quantity(self.outputs as u64, "output")
                ),
            },
            Condition {
                assumption: "no bias".into(),
                holds: Some(self.bias == 0.0),
                because: format!("the largest entry of a bias is {}", short(self.bias)),
            },
            Condition {
                assumption: "slopes of the nonlinearity of at most 1".into(),
                holds: self.slope.map(|slope| slope <= 1.0 + 1e-9),
                because: self
                    .slope
                    .map_or_else(no_slope, |slope| format!("the largest slope is {}", short(slope))),
            },
            Condition {
                assumption: "a loss that is bounded by B and changes by no more than the score".into(),
                holds: Some(false),
                because: "cross-entropy and squared error are not bounded; B is the largest loss of the n sequences, which \
                          new sequences may exceed"
                    .into(),
            },
            Condition {
                assumption: "norms that were fixed before the data was seen".into(),
                holds: Some(false),
                because: "R_U, R_W and R_v are the norms of this network, which has seen the data".into(),
            },
        ]
    }

    fn generalization(&self) -> Option<Generalization> {
        let (loss, largest) = (self.loss?, self.largest_loss?);
        let root = (self.sequences as f64).sqrt();
        let norms = self.frobenius_w * self.frobenius_u * self.input * self.frobenius_head;
        // n times the Rademacher complexity is r_T ≤ (β + 2α·R_U)·r_{T−1} + 2α·R_W·R_x·√n, from r_0 = 0, as in the proof.
        let growth = log10_powers(self.beta + 2.0 * self.alpha * self.frobenius_u, self.steps);
        let of_step = 2.0 * self.alpha * self.frobenius_w * self.input / root;
        // The expected loss is bounded with twice the Rademacher complexity.
        let recursion = (2.0 * self.frobenius_head * of_step).log10() + growth;
        let confidence = largest * ((1.0 / self.delta).ln() / self.sequences as f64).sqrt();
        let log10_bound = log10_sum(&[loss.log10(), recursion, confidence.log10()]);
        Some(Generalization {
            empirical_loss: loss,
            log10_theorem_term: (norms * self.alpha_t() / root).log10(),
            log10_recursion_term: recursion,
            confidence_term: confidence,
            log10_bound,
            is_informative: log10_bound < largest.log10(),
        })
    }

    fn convergence(&self, steps: u64) -> Option<Convergence> {
        let first = self.first_loss?.log10();
        // D̄ may be chosen; this one makes its factor smallest.
        let chosen = 2.0 * (self.frobenius_w * self.frobenius_u * self.frobenius_head).sqrt();
        let (run, factor) = ((steps as f64).log10(), (2.0 * chosen).log10());
        let bound = |size: f64| log10_sum(&[size + first - run, factor + size - run / 2.0]);
        let theorem = self.alpha_t().log10();
        let sum = self.slope.map(|slope| {
            let base = self.alpha * slope * self.norm_u + self.beta;
            self.alpha.log10() + log10_powers(base, self.steps + 1)
        });
        let of_data = chosen.log10() - (self.steps as f64).log10() - run / 2.0;
        Some(Convergence {
            steps,
            log10_step_size: of_data.min(-theorem),
            log10_theorem_bound: bound(theorem),
            log10_sum_bound: sum.map(bound),
        })
    }
}

fn short(value: f64) -> String {
    fastgrnn_core::format::number(value)
}

/// The decimal logarithm of 1 + q + q² + … of so many terms, for q of at least 0.
fn log10_powers(q: f64, terms: usize) -> f64 {
    let terms = terms as f64;
    if terms == 0.0 {
        return f64::NEG_INFINITY;
    }
    if (q - 1.0).abs() * terms < 1e-9 {
        return terms.log10();
    }
    // (qⁿ − 1)/(q − 1)
    let exponent = terms * q.ln();
    match q > 1.0 {
        true => (exponent + (-(-exponent).exp()).ln_1p() - (q - 1.0).ln()) / std::f64::consts::LN_10,
        false => (-(exponent.exp()) + 1.0).log10() - (1.0 - q).log10(),
    }
}

/// The decimal logarithm of a sum of numbers that are given by theirs.
fn log10_sum(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return top;
    }
    top + logs.iter().map(|log| 10f64.powf(log - top)).sum::<f64>().log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fastrnn() -> Ingredients {
        Ingredients {
            alpha: 0.001,
            beta: 0.999,
            steps: 100,
            sequences: 400,
            sequences_are: "sequences",
            features: 2,
            units: 4,
            outputs: 1,
            slope: Some(1.0),
            norm_u: 1.5,
            frobenius_u: 2.0,
            frobenius_w: 0.5,
            frobenius_head: 1.0,
            input: 3.0,
            bias: 0.0,
            first_loss: Some(0.7),
            loss: Some(0.2),
            largest_loss: Some(1.5),
            delta: 0.05,
        }
    }

    #[test]
    fn powers_are_summed_also_where_they_overflow() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        close(log10_powers(2.0, 10), 1_023f64.log10());
        close(log10_powers(0.5, 3), 1.75f64.log10());
        close(log10_powers(1.0, 7), 7f64.log10());
        close(log10_powers(1.0 + 1e-12, 7), 7f64.log10());
        close(log10_powers(0.0, 5), 0.0);
        close(log10_powers(10.0, 5_000), 4_999.0 + (10.0f64 / 9.0).log10());
        close(log10_sum(&[3.0, 3.0, f64::NEG_INFINITY]), 2_000f64.log10());
        close(log10_sum(&[9_999.0, 1.0]), 9_999.0);
    }

    #[test]
    fn the_generalisation_bound_has_twice_the_recursion_of_the_proof() {
        let given = fastrnn();
        let found = given.generalization().unwrap();
        let mut r = 0.0;
        for _ in 0..given.steps {
            r = (given.beta + 2.0 * given.alpha * given.frobenius_u) * r
                + 2.0 * given.alpha * given.frobenius_w * given.input;
        }
        let expected = 2.0 * given.frobenius_head * r / 20.0;
        assert!((10f64.powf(found.log10_recursion_term) - expected).abs() < 1e-12);
        let confidence = 1.5 * (20f64.ln() / 400.0).sqrt();
        assert!((10f64.powf(found.log10_bound) - (0.2 + expected + confidence)).abs() < 1e-12);
        assert!(found.is_informative);
        assert!((10f64.powf(found.log10_theorem_term) - 3.0 * 0.1 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn bounds_of_a_fastrnn_do_not_grow_with_the_steps_if_alpha_falls_and_those_of_an_rnn_of_large_norm_explode()
     {
        let at = |steps: usize, alpha: f64| Ingredients { steps, alpha, beta: 1.0 - alpha, ..fastrnn() };
        let bound = |given: &Ingredients| {
            (
                given.generalization().unwrap().log10_recursion_term,
                given.convergence(1_000).unwrap().log10_sum_bound.unwrap(),
            )
        };
        let (short, long) = (bound(&at(100, 0.001)), bound(&at(10_000, 0.00001)));
        assert!((short.0 - long.0).abs() < 0.01 && (short.1 - long.1).abs() < 0.02, "{short:?} {long:?}");
        let rnn = bound(&at(1_000, 1.0));
        assert!(rnn.0 > 600.0 && rnn.1 > 170.0, "{rnn:?}");
        // α·𝒟·‖U‖₂ + β and β + 2α·R_U below 1: the sums have a limit.
        let contracting = |steps| Ingredients { norm_u: 0.4, frobenius_u: 0.45, ..at(steps, 1.0) };
        let (short, long) = (bound(&contracting(1_000)), bound(&contracting(10_000)));
        assert!((short.0 - long.0).abs() < 1e-9 && (short.1 - long.1).abs() < 1e-9, "{short:?} {long:?}");
    }

    #[test]
    fn without_an_update_the_slope_and_what_depends_on_it_are_not_known() {
        let given = Ingredients { alpha: 0.0, beta: 1.0, slope: None, ..fastrnn() };
        assert!(given.quantities().iter().all(|quantity| quantity.symbol != "𝒟"));
        let conditions = given.conditions();
        let unknown: Vec<&Condition> = conditions.iter().filter(|c| c.holds.is_none()).collect();
        assert_eq!(unknown.len(), 2);
        assert!(unknown.iter().all(|c| c.because.contains("𝒟 is not known")), "{unknown:?}");
        assert_eq!(given.convergence(1_000).unwrap().log10_sum_bound, None);
    }

    #[test]
    fn conditions_name_what_does_not_hold() {
        let failing = |given: &Ingredients| {
            given
                .conditions()
                .iter()
                .filter(|c| c.holds == Some(false))
                .map(|c| c.assumption.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(failing(&fastrnn()).len(), 2, "{:?}", failing(&fastrnn()));
        let multi = Ingredients { outputs: 5, bias: 0.1, alpha: 0.5, ..fastrnn() };
        let failing = failing(&multi).join("; ");
        for part in ["1/(4T·R_U)", "β = 1 − α", "two classes", "no bias"] {
            assert!(failing.contains(part), "{failing}");
        }
    }
}
