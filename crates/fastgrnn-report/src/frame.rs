//! The frame of a chart: its heading, its axes with their ticks, and where points lie in it.

use super::axis::Axis;
use super::svg::{Anchor, Svg};

/// Size of a chart and the margins around its points, in pixels.
pub(super) struct Margins {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Two axes inside margins.
pub(super) struct Frame<'a> {
    pub(super) margins: &'a Margins,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// The smallest and the largest of `values`.
pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

impl Frame<'_> {
    /// Pixels from the left.
    pub(super) fn px(&self, v: f64) -> f64 {
        let m = self.margins;
        m.left + self.x.place(v) * (m.width - m.left - m.right)
    }

    /// Pixels from the top.
    pub(super) fn py(&self, v: f64) -> f64 {
        let m = self.margins;
        m.height - m.bottom - self.y.place(v) * (m.height - m.top - m.bottom)
    }

    /// A drawing with the heading and the axes; `y_label` writes the value of a tick.
    pub(super) fn draw(&self, title: &str, x_label: &str, y_label: impl Fn(f64, &str) -> String) -> Svg {
        let m = self.margins;
        let (end, floor) = (m.width - m.right, m.height - m.bottom);
        let mut svg = Svg::new(m.width, m.height);
        svg.text("fg-h", m.left, 24.0, Anchor::Start, title);
        for (v, label) in &self.y.ticks {
            svg.line("fg-g", (m.left, self.py(*v)), (end, self.py(*v)));
            svg.text("fg-t", m.left - 8.0, self.py(*v) + 4.0, Anchor::End, &y_label(*v, label));
        }
        svg.line("fg-a", (m.left, floor), (end, floor));
        for (v, label) in &self.x.ticks {
            svg.line("fg-a", (self.px(*v), floor), (self.px(*v), floor + 4.0));
            svg.text("fg-t", self.px(*v), floor + 18.0, Anchor::Middle, label);
        }
        svg.text("fg-t", (m.left + end) / 2.0, m.height - 10.0, Anchor::Middle, x_label);
        svg
    }
}
