//! The page of a training run: sections in the order a reader asks for them.

use super::html::{document, figures, open_table, text_section};
use super::run::{PREDICTED_FILES, Plot, RunReport, SeedRow};
use super::svg::escape;
use fastgrnn_core::format::{bytes, count, duration, fraction, number};
use std::fmt::Write as _;

/// What a column of the table of seeds shows of a seed; nothing where it was not measured.
type CellOf = Box<dyn Fn(&SeedRow) -> Option<String>>;

/// The column that may hold only dashes.
const TEST_F1: &str = "test macro F1";

impl RunReport {
    /// The whole page.
    pub fn html(&self) -> String {
        let plots = self.plots();
        document(&self.title, &self.subtitle, &self.version, |out| {
            figures(out, &self.figures);
            notes(out, self);
            let hint = "One line for each training; the ring marks the epoch that was kept.";
            plot_section(out, &plots, &["loss.svg", "accuracy.svg"], "Training", "plots curves", hint);
            seeds(out, self);
            confusion(out, self);
            let hint = "One point for each sequence; on the dashed line both are equal.";
            plot_section(out, &plots, &PREDICTED_FILES, "Predicted against true", "plots", hint);
            self.mistakes.iter().for_each(|section| section.write(out, &self.shown));
            self.data.iter().for_each(|section| section.write(out));
            self.examples.iter().for_each(|section| section.write(out, &self.shown));
            self.boards.iter().for_each(|section| section.write(out));
            model(out, self);
            text_section(out, "Settings", &self.config);
            text_section(out, "Make it again", &self.command);
        })
    }
}

fn notes(out: &mut String, report: &RunReport) {
    if report.notes.is_empty() {
        return;
    }
    out.push_str("<section class=\"notes\"><ul>\n");
    for note in &report.notes {
        let _ = writeln!(out, "<li>{}</li>", escape(note));
    }
    out.push_str("</ul></section>\n");
}

/// A section with the plots of these names, if there are any.
fn plot_section(out: &mut String, plots: &[Plot], names: &[&str], title: &str, class: &str, hint: &str) {
    let shown: Vec<&Plot> = plots.iter().filter(|plot| names.contains(&plot.name)).collect();
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(out, "<section><h2>{title}</h2>\n<div class=\"{class}\">");
    for plot in shown {
        let _ = writeln!(out, "<figure>{}</figure>", plot.svg);
    }
    let _ = writeln!(out, "</div>\n<p class=\"hint\">{hint}</p></section>");
}

fn seeds(out: &mut String, report: &RunReport) {
    if report.seeds.is_empty() {
        return;
    }
    let mut columns: Vec<(&str, CellOf)> = vec![
        ("kept epoch", Box::new(|s| s.best_epoch.map(|e| e.to_string()))),
        ("validation accuracy", Box::new(|s| s.val_accuracy.map(|v| fraction(v, None)))),
        ("validation micro F1", Box::new(|s| s.val_micro_f1.map(|v| fraction(v, None)))),
        ("validation perplexity", Box::new(|s| s.val_perplexity.map(number))),
        ("validation loss", Box::new(|s| s.val_loss.map(number))),
        ("test accuracy", Box::new(|s| s.test_accuracy.map(|v| fraction(v, None)))),
        ("test micro F1", Box::new(|s| s.test_micro_f1.map(|v| fraction(v, None)))),
        ("test perplexity", Box::new(|s| s.test_perplexity.map(number))),
        (TEST_F1, Box::new(|s| s.test_f1.map(|v| format!("{v:.4}")))),
        ("test loss", Box::new(|s| s.test_loss.map(number))),
        ("time", Box::new(|s| s.seconds.map(duration))),
    ];
    // Tested classes have an F1, which may not exist: that is worth a dash.
    let is_tested = report.seeds.iter().any(|s| s.test_accuracy.is_some());
    columns.retain(|(name, cell)| {
        report.seeds.iter().any(|s| cell(s).is_some()) || (is_tested && *name == TEST_F1)
    });
    out.push_str("<section><h2>Seeds</h2>\n");
    let names: Vec<&str> = std::iter::once("seed").chain(columns.iter().map(|(name, _)| *name)).collect();
    open_table(out, "Seeds", &names);
    for s in &report.seeds {
        let class = if s.chosen { " class=\"chosen\"" } else { "" };
        let _ =
            write!(out, "<tr{class}><th scope=\"row\">{}{}</th>", s.seed, if s.chosen { " ★" } else { "" });
        for (_, cell) in &columns {
            let _ = write!(out, "<td>{}</td>", escape(&cell(s).unwrap_or_else(|| "–".into())));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out.push_str("<p class=\"hint\">★ best on validation: this seed is in the model file.</p></section>\n");
}

fn confusion(out: &mut String, report: &RunReport) {
    let Some(matrix) = &report.confusion else { return };
    let _ = write!(out, "<section><h2>By class ({})</h2>\n<div class=\"plots\">\n", escape(&matrix.of));
    if let Some(svg) = super::confusion_svg(matrix) {
        let _ = writeln!(out, "<figure>{svg}</figure>");
    }
    open_table(out, "Scores of each class", &["class", "precision", "recall", "F1", "sequences"]);
    for (name, c) in matrix.classes.iter().zip(&matrix.per_class) {
        let figure = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.4}"));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            figure(c.precision),
            figure(c.recall),
            figure(c.f1),
            count(c.support)
        );
    }
    out.push_str("</tbody></table></div></div></section>\n");
}

fn model(out: &mut String, report: &RunReport) {
    if report.tensors.is_empty() {
        return;
    }
    out.push_str("<section><h2>Model</h2>\n");
    if !report.equation.is_empty() {
        let _ = writeln!(out, "<pre tabindex=\"0\">{}</pre>", escape(&report.equation.join("\n")));
    }
    open_table(out, "Tensors", &["tensor", "shape", "numbers", "bytes"]);
    let (mut numbers, mut total) = (0u64, 0u64);
    for t in &report.tensors {
        let shape: Vec<String> = t.shape.iter().map(usize::to_string).collect();
        let entries = if t.shape.is_empty() { 0 } else { t.shape.iter().map(|&n| n as u64).product() };
        numbers += entries;
        total += t.bytes;
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&t.name),
            shape.join(" × "),
            count(entries),
            count(t.bytes)
        );
    }
    let _ = writeln!(
        out,
        "</tbody><tfoot><tr><th scope=\"row\">total</th><td></td><td>{}</td><td>{}</td></tr></tfoot></table></div></section>",
        count(numbers),
        bytes(total)
    );
}
