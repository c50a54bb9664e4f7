//! The page of an analysis: condition numbers, gradients over time, residual weights, initial states and bounds.

use super::analysis_rows::{
    AnalyzedNetwork, BOUND_COLUMNS, CONDITION_COLUMNS, CONDITIONS_COLUMNS, GRADIENT_COLUMNS,
    QUANTITY_COLUMNS, STATE_COLUMNS, WEIGHT_COLUMNS, bound_rows, condition_rows, conditions_rows,
    gradient_rows, layer_name, quantity_rows, ratio_lines, sequence_lines, state_rows, weight_rows,
};
use super::reproduction::ReproductionReport;
use crate::analyze::{GradientPoint, ProductPoint, Spread};
use fastgrnn_core::format::quantity;
use fastgrnn_report::html::{document, figures, table, text_section};
use fastgrnn_report::{Chart, Figure, Kind, Line, Scale, Span, Unit, palette};
use std::fmt::Write as _;

/// Analyses, and what is needed to tell them.
#[derive(Clone, Debug)]
pub struct AnalysisReport<'a> {
    /// The networks.
    pub networks: &'a [AnalyzedNetwork<'a>],
    /// Tables from trainings, where they are shown, too.
    pub reproduction: Option<&'a ReproductionReport<'a>>,
    /// The command that makes this page again.
    pub command: String,
    /// Which fastgrnn made it.
    pub version: String,
}

/// A kind of line of a plot over T − t.
struct ProductLine {
    /// What follows the name of the network in the legend.
    suffix: &'static str,
    dashed: bool,
    value: fn(&ProductPoint) -> f64,
}

const CONDITION_HINT: &str = "M(U) is the product of the Jacobians of the last T − t steps of a sequence: a change of the \
    state after step t, multiplied by it, is the change of the last state. Its condition number is the ratio of its largest \
    to its smallest singular value. Where it is large, the gradient explodes or vanishes in some directions. Figures are \
    measured in f64 along sequences of the training data. A geometric mean is the mean of the logarithms. A product that is \
    singular to the accuracy of f64 has the condition number ∞, which counts in the median, the geometric mean and the \
    largest value; plots have no point where the median is ∞. Bounds are derived from the largest ‖UᵀD‖ of the same steps.";
const GRADIENT_HINT: &str = "The norm of the gradient of the loss by the state after step t, measured in f64. T − t is 0 at \
    the last state, which the head reads. A geometric mean is the mean of the logarithms; it is 0 where one of the norms is.";
const WEIGHT_HINT: &str = "Measured: what the network has, after the sigmoid. The difference of β from 1 − α is derived, as a \
    share of 1 − α. Paper: the same figure of the paper's FastRNN with tanh on this data set, where the number of steps is \
    the same.";
const STATE_HINT: &str = "Measured: the scores when all sequences start from the state 0, and from states that are drawn \
    from a normal distribution.";
const BOUND_HINT: &str = "Derived from the quantities below. The theorems hide constants in O(αT). With αT, and the \
    constant 1, values show how the bounds scale and are no bounds by themselves. The sum of powers in place of αT also \
    exists where the conditions on α do not hold. For generalisation it is 2α·R_W·R_x·Σ(β + 2α·R_U)ᵗ/√n, a bound of the \
    Rademacher complexity, which the loss on new sequences has twice. For convergence it is α·Σ(α·𝒟·‖U‖₂ + β)ᵗ; the \
    Lipschitz constant of the proof has more factors and terms, so that this value is no bound by itself either. A sum is \
    exponential in T where the base of its powers is above 1. For an RNN, α is 1 and β is 0, and the bases are 2·R_U and \
    𝒟·‖U‖₂. The convergence bound is that of the expected squared norm of the gradient after \
    so many steps of randomised stochastic gradient, with D̄ chosen to make it smallest.";

impl AnalysisReport<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        document("Theory of the paper, measured", &self.subtitle(), &self.version, |out| {
            figures(out, &self.figures());
            if !self.networks.is_empty() {
                sequence_lines(self.networks).iter().for_each(|line| hint(out, line));
                self.conditions(out);
                self.gradients(out);
                self.tables(out);
                self.bounds(out);
            }
            if let Some(reproduction) = self.reproduction {
                reproduction.write_tables(out);
            }
            text_section(out, "Make it again", &self.command);
        })
    }

    fn subtitle(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for network in self.networks {
            let found = network.analysis;
            let name = format!(
                "{} of {}, up to {}",
                quantity(found.training_sequences as u64, "training sequence"),
                found.dataset,
                quantity(found.steps as u64, "step")
            );
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join("; ")
    }

    fn figures(&self) -> Vec<Figure> {
        let of_network = |network: &AnalyzedNetwork| {
            let point = network.analysis.products.first()?.points.last()?;
            let label = format!("{}: log₁₀ of the condition number over {} steps", network.name, point.steps);
            let median = point.log10_condition.map(|spread| spread.median);
            Some(Figure::new(&label, median, Unit::Number, Kind::Measured))
        };
        self.networks.iter().filter_map(of_network).collect()
    }

    fn conditions(&self, out: &mut String) {
        let kind = |suffix, dashed, value| ProductLine { suffix, dashed, value };
        let conditions = [
            kind("", false, |point| median(point.log10_condition)),
            kind(" bound", true, |point| median(point.log10_bound)),
        ];
        let values = [
            kind(" largest", false, |point| median(point.log10_largest)),
            kind(" smallest", true, |point| median(point.log10_smallest)),
        ];
        open(out, "Condition number of the gradient");
        plot(out, "Condition number", self.products(&conditions));
        plot(out, "Singular values", self.products(&values));
        out.push_str("</div>\n");
        table(out, "Condition number", &CONDITION_COLUMNS, &condition_rows(self.networks));
        hint(out, CONDITION_HINT);
        for statement in self.statements().into_iter().chain(ratio_lines(self.networks)) {
            hint(out, &statement);
        }
        out.push_str("</section>\n");
    }

    /// What the paper says about the cells, each once.
    fn statements(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for layer in self.networks.iter().flat_map(|network| &network.analysis.products) {
            let text = format!("{}: {}", layer.cell, layer.statement);
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    /// Lines over T − t: one of each kind for each layer of each network.
    fn products(&self, kinds: &[ProductLine]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (network, layer, colour) in self.layers() {
            for ProductLine { suffix, dashed, value } in kinds {
                let points = network.analysis.products[layer].points.iter();
                let points = points.map(|point| (point.steps as f64, value(point)));
                let finite: Vec<(f64, f64)> = points.filter(|point| point.1.is_finite()).collect();
                let name = format!("{}{suffix}", layer_name(network, layer));
                lines.push(Line {
                    legend: name.clone(),
                    title: name,
                    colour,
                    dashed: *dashed,
                    points: finite,
                    mark: None,
                });
            }
        }
        lines
    }

    /// All layers of all networks, each with a colour.
    fn layers(&self) -> impl Iterator<Item = (&AnalyzedNetwork<'_>, usize, &'static str)> {
        let all = self.networks.iter();
        let layers =
            all.flat_map(|network| (0..network.analysis.products.len()).map(move |layer| (network, layer)));
        layers
            .zip(palette::ALL.into_iter().cycle())
            .map(|((network, layer), colour)| (network, layer, colour))
    }

    fn gradients(&self, out: &mut String) {
        let mut lines = Vec::new();
        for (network, layer, colour) in self.layers() {
            let Some(gradients) = network.analysis.gradients.get(layer) else { continue };
            let value = |point: &GradientPoint| median(point.log10_norm);
            let points = gradients.points.iter().map(|point| (point.before_end as f64, value(point)));
            let name = layer_name(network, layer);
            lines.push(Line {
                legend: name.clone(),
                title: name,
                colour,
                dashed: false,
                points: points.filter(|point| point.1.is_finite()).collect(),
                mark: None,
            });
        }
        if lines.is_empty() {
            return;
        }
        open(out, "Gradient of the loss by the state");
        let title = "Median norm of the gradient".into();
        let x_label = "T − t".into();
        let chart = Chart { title, x_label, span: Span::Whole, scale: Scale::PowerOfTen, lines };
        chart.svg().iter().for_each(|svg| out.push_str(&format!("<figure>{svg}</figure>\n")));
        out.push_str("</div>\n");
        table(out, "Gradient of the loss", &GRADIENT_COLUMNS, &gradient_rows(self.networks));
        hint(out, GRADIENT_HINT);
        out.push_str("</section>\n");
    }

    fn tables(&self, out: &mut String) {
        let tables = [
            ("Residual weights", &WEIGHT_COLUMNS[..], weight_rows(self.networks), WEIGHT_HINT),
            ("Influence of the initial state", &STATE_COLUMNS[..], state_rows(self.networks), STATE_HINT),
        ];
        for (title, columns, rows, text) in tables.into_iter().filter(|(_, _, rows, _)| !rows.is_empty()) {
            let _ = writeln!(out, "<section><h2>{title}</h2>");
            table(out, title, columns, &rows);
            hint(out, text);
            out.push_str("</section>\n");
        }
    }

    fn bounds(&self, out: &mut String) {
        out.push_str("<section><h2>Bounds of convergence and generalisation</h2>\n");
        let rows = bound_rows(self.networks);
        if !rows.is_empty() {
            table(out, "Bounds", &BOUND_COLUMNS, &rows);
            hint(out, BOUND_HINT);
        }
        for network in self.networks {
            let theory = &network.analysis.theory;
            let name = fastgrnn_report::html::escaped(network.name);
            if let Some(why) = &theory.why_not {
                let _ = writeln!(out, "<p>{name}: {}</p>", fastgrnn_report::html::escaped(why));
                continue;
            }
            let _ = writeln!(out, "<h3>{name}</h3>");
            table(out, "What the theorems assume", &CONDITIONS_COLUMNS, &conditions_rows(theory));
            table(out, "Quantities of the bounds", &QUANTITY_COLUMNS, &quantity_rows(theory));
        }
        out.push_str("</section>\n");
    }
}

fn median(spread: Option<Spread>) -> f64 {
    spread.map_or(f64::NAN, |spread| spread.median)
}

fn open(out: &mut String, title: &str) {
    let _ = writeln!(out, "<section><h2>{title}</h2>\n<div class=\"plots curves\">");
}

fn hint(out: &mut String, text: &str) {
    let _ = writeln!(out, "<p class=\"hint\">{}</p>", fastgrnn_report::html::escaped(text));
}

fn plot(out: &mut String, title: &str, lines: Vec<Line>) {
    let chart = Chart {
        title: title.into(),
        x_label: "T − t".into(),
        span: Span::Log,
        scale: Scale::PowerOfTen,
        lines,
    };
    chart.svg().iter().for_each(|svg| out.push_str(&format!("<figure>{svg}</figure>\n")));
}
