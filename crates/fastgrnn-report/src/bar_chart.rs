//! Horizontal bars: a few counts with their names.

use super::lines::palette;
use super::svg::{Anchor, Svg, escape, shorten};

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it counts.
    pub name: String,
    /// Its length; bars of what is not a positive number have none.
    pub value: f64,
    /// What is written at its end.
    pub text: String,
}

/// Bars under a heading, in the order given.
///
/// ```
/// use fastgrnn_report::{Bar, Bars};
/// let bars = vec![Bar { name: "state".into(), value: 3.0, text: "3".into() }];
/// assert!(Bars { title: "Saturated".into(), bars }.svg().unwrap().contains("state"));
/// assert!(Bars { title: "Nothing".into(), bars: Vec::new() }.svg().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Heading.
    pub title: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

const WIDTH: f64 = 560.0;
const ROW: f64 = 26.0;
const TOP: f64 = 40.0;
/// Room for the text at the end of the longest bar.
const END: f64 = 110.0;

impl Bars {
    /// The bars as a document, or nothing when there are none.
    pub fn svg(&self) -> Option<String> {
        let name = |bar: &Bar| shorten(&bar.name, 26);
        let longest = self.bars.iter().map(|b| name(b).chars().count()).max()? as f64;
        let left = 24.0 + 6.8 * longest;
        let largest = self.bars.iter().map(|b| b.value).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let mut svg = Svg::new(WIDTH, TOP + ROW * self.bars.len() as f64 + 12.0);
        svg.text("fg-h", 16.0, 24.0, Anchor::Start, &self.title);
        for (i, bar) in self.bars.iter().enumerate() {
            let y = TOP + ROW * i as f64;
            let share = if largest > 0.0 && bar.value > 0.0 { (bar.value / largest).min(1.0) } else { 0.0 };
            let width = share * (WIDTH - left - END);
            svg.text("fg-t", left - 8.0, y + 16.0, Anchor::End, &name(bar));
            svg.raw(&format!(
                r#"<rect x="{left:.1}" y="{:.1}" width="{width:.1}" height="{:.1}" fill="{}"><title>{}: {}</title></rect>"#,
                y + 4.0,
                ROW - 8.0,
                palette::BLUE,
                escape(&bar.name),
                escape(&bar.text)
            ));
            svg.text("fg-t", left + width + 8.0, y + 16.0, Anchor::Start, &bar.text);
        }
        let each: Vec<String> = self.bars.iter().map(|b| format!("{}: {}", b.name, b.text)).collect();
        Some(svg.finish(&self.title, &each.join("; ")))
    }
}
