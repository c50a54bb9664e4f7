//! Predicted against true numbers: one point a sequence, with the line on which both are equal.

use super::axis::Axis;
use super::frame::{Frame, Margins, range};
use fastgrnn_core::format::{number, quantity};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Predicted against true values of one target, on the same scale.
///
/// ```
/// use fastgrnn_report::PredictedPlot;
/// let plot = PredictedPlot { title: "Predicted against true".into(), points: vec![(1.0, 1.5), (2.0, 2.0)] };
/// assert!(plot.svg().unwrap().contains("predicted"));
/// assert!(PredictedPlot::default().svg().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedPlot {
    /// Heading.
    pub title: String,
    /// The true and the predicted value of each sequence.
    pub points: Vec<(f32, f32)>,
}

/// The space inside is a square: the scale of both axes is the same.
const MARGINS: Margins =
    Margins { width: 420.0, height: 428.0, left: 74.0, right: 16.0, top: 42.0, bottom: 56.0 };
/// Labels of an axis with more characters are written with an exponent.
const LONGEST_LABEL: usize = 7;
const COLOUR: &str = "#2b8cbe";

impl PredictedPlot {
    /// The plot as a document, or nothing when there are no finite points.
    pub fn svg(&self) -> Option<String> {
        let finite = |(t, p): &&(f32, f32)| t.is_finite() && p.is_finite();
        let points: Vec<(f64, f64)> =
            self.points.iter().filter(finite).map(|&(t, p)| (f64::from(t), f64::from(p))).collect();
        points.first()?;
        let (mut low, mut high) = range(points.iter().flat_map(|&(t, p)| [t, p]));
        if high <= low {
            // One value needs some room, which depends on its size.
            let room = (low.abs() * 0.1).max(0.5);
            (low, high) = (low - room, high + room);
        }
        let mut axis = Axis::linear(low, high, 5, true);
        for (value, label) in &mut axis.ticks {
            if label.chars().count() > LONGEST_LABEL {
                *label = number(*value);
            }
        }
        let frame = Frame { margins: &MARGINS, x: axis.clone(), y: axis };
        let mut svg = frame.draw(&self.title, "true", |_, label| label.to_owned());
        let (floor, end) = (MARGINS.height - MARGINS.bottom, MARGINS.width - MARGINS.right);
        let middle = (MARGINS.top + floor) / 2.0;
        svg.raw(&format!(
            r#"<text class="fg-t" transform="translate(16 {middle:.1}) rotate(-90)" text-anchor="middle">predicted</text>"#
        ));
        svg.raw(&format!(
            r#"<path class="fg-a" d="M{:.1} {floor:.1}L{end:.1} {:.1}" fill="none" stroke-dasharray="5 3"/>"#,
            MARGINS.left, MARGINS.top
        ));
        // Points without length in one path: round ends make them dots.
        let mut path = String::new();
        for &(truth, predicted) in &points {
            let _ = write!(path, "M{:.1} {:.1}h0", frame.px(truth), frame.py(predicted));
        }
        svg.raw(&format!(
            r#"<path d="{path}" fill="none" stroke="{COLOUR}" stroke-width="5" stroke-linecap="round" stroke-opacity="0.55"/>"#
        ));
        Some(svg.finish(&self.title, &summary(&points)))
    }
}

/// The ranges and the largest difference in words.
fn summary(points: &[(f64, f64)]) -> String {
    let (truth, predicted) = (range(points.iter().map(|p| p.0)), range(points.iter().map(|p| p.1)));
    let largest = points.iter().map(|(t, p)| (t - p).abs()).fold(0.0, f64::max);
    format!(
        "{}. True values from {} to {}, predicted from {} to {}; the largest difference is {}.",
        quantity(points.len() as u64, "sequence"),
        number(truth.0),
        number(truth.1),
        number(predicted.0),
        number(predicted.1),
        number(largest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f32, f32)]) -> Option<String> {
        PredictedPlot { title: "p".into(), points: points.to_vec() }.svg()
    }

    #[test]
    fn both_axes_have_the_same_ticks_and_equal_values_lie_on_the_diagonal() {
        let svg = plot(&[(0.0, 0.0), (50.0, 50.0), (100.0, 20.0)]).unwrap();
        for label in [">0<", ">20<", ">100<"] {
            assert_eq!(svg.matches(label).count(), 2, "{label}");
        }
        // The middle of the square: 74 + 330 / 2 and 42 + 330 / 2.
        assert!(svg.contains("M239.0 207.0h0") && svg.contains("M74.0 372.0L404.0 42.0"), "{svg}");
        assert!(svg.contains("the largest difference is 80"), "{svg}");
    }

    #[test]
    fn odd_values_are_no_broken_plot() {
        assert_eq!(plot(&[(f32::NAN, 1.0), (1.0, f32::INFINITY)]), None);
        for points in [&[(3.0, 3.0)][..], &[(1e30, 1e30)], &[(f32::MIN, f32::MAX)], &[(0.0, 1e-38)]] {
            let svg = plot(points).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
