//! Scores and paths as text.

use fastgrnn::metrics::{Scores, SetScores};
use fastgrnn::report::{count, fraction, number, number_sd};
use std::path::Path;

/// A path relative to the current folder if it is inside it.
pub fn short(path: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    let inside = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    inside.unwrap_or(path).display().to_string()
}

/// The scores of the positive class, if there is one.
fn found_text(s: &Scores, sd: Option<&Scores>) -> String {
    let Some(threshold) = s.threshold else { return String::new() };
    let share = |of: fn(&Scores) -> Option<f64>| of(s).map_or("–".into(), |v| fraction(v, sd.and_then(of)));
    format!(
        "F1 {}, precision {}, recall {} at threshold {}, ",
        share(|s| s.f1),
        share(|s| s.precision),
        share(|s| s.recall),
        number(threshold)
    )
}

/// The classes of which there is no sequence.
fn absent_text(absent: &[String]) -> String {
    match absent {
        [] => String::new(),
        absent => format!("; no sequence of {}", absent.join(", ")),
    }
}

/// Accuracy and F1, or the errors of a regression.
pub fn score_text(s: &Scores, sd: Option<&Scores>) -> String {
    let plain = |v: f64, d: Option<f64>| d.map_or_else(|| number(v), |d| number_sd(v, d));
    if let Some(perplexity) = s.perplexity {
        return format!(
            "perplexity {} a token, {} tokens",
            plain(perplexity, sd.and_then(|s| s.perplexity)),
            count(s.tokens.unwrap_or(0) as u64)
        );
    }
    if let Some(sets) = &s.sets {
        let of_sd = sd.and_then(|s| s.sets.as_ref()).map(SetScores::entries);
        let all = sets.entries();
        let share = |k: usize| all[k].1.map_or("–".into(), |v| fraction(v, of_sd.and_then(|sd| sd[k].1)));
        return format!(
            "micro F1 {}, macro F1 {} at threshold {}, precision@1, 3, 5 {}, {}, {}, nDCG@1, 3, 5 {}, {}, {}, loss {}, n {}",
            share(6),
            share(7),
            s.threshold.map_or("–".into(), number),
            share(0),
            share(1),
            share(2),
            share(3),
            share(4),
            share(5),
            plain(s.loss, sd.map(|s| s.loss)),
            count(s.n as u64)
        );
    }
    match (s.accuracy, s.rmse) {
        (Some(a), _) => format!(
            "{}accuracy {}, macro F1 {}, loss {}, n {}{}",
            found_text(s, sd),
            fraction(a, sd.and_then(|s| s.accuracy)),
            s.f1_macro.map_or("–".into(), |f| plain(f, sd.and_then(|s| s.f1_macro))),
            plain(s.loss, sd.map(|s| s.loss)),
            count(s.n as u64),
            absent_text(&s.absent)
        ),
        (_, Some(rmse)) => format!(
            "root mean squared error {}, mean absolute error {}, R² {}, n {}",
            plain(rmse, sd.and_then(|s| s.rmse)),
            s.mae.map_or("–".into(), number),
            s.r2.map_or("–".into(), number),
            count(s.n as u64)
        ),
        _ => format!("loss {}, n {}", plain(s.loss, sd.map(|s| s.loss)), count(s.n as u64)),
    }
}
