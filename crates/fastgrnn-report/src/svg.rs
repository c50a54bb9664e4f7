//! The few SVG elements the plots need, written as text.
//!
//! Colours of text, lines and background are classes with a light and a dark value, so that a plot
//! looks right inside the page and as a file of its own.

use std::fmt::Write as _;

/// `text` made safe inside an element or a quoted attribute of HTML and SVG.
///
/// Control characters that XML forbids become the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// `text` cut to `limit` characters with an ellipsis.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Colours and type of the plots; the page holds it once for the small plots, which bring none of their own.
pub(super) const STYLE: &str = "\
.fg-t{fill:#3d4450;font:12px system-ui,sans-serif}.fg-h{fill:#1c2026;font:600 14px system-ui,sans-serif}\
.fg-g{stroke:#dfe3e8;stroke-width:1}.fg-a{stroke:#8a929e;stroke-width:1}.fg-b{fill:#fff}\
.fg-s{fill:#3d4450;font:11px system-ui,sans-serif}.fg-c{font:12px system-ui,sans-serif}.fg-cl{fill:#fff}.fg-cd{fill:#1c2026}\
@media (prefers-color-scheme:dark){.fg-t,.fg-s{fill:#b6bdc8}.fg-h{fill:#eceff4}.fg-g{stroke:#30363f}\
.fg-a{stroke:#6b7480}.fg-b{fill:#16191e}.fg-cd{fill:#dfe3e8}}\
@media print{.fg-t,.fg-s,.fg-h,.fg-cd{fill:#111}.fg-g{stroke:#ddd}.fg-b{fill:#fff}}";

/// Pixels that a heading takes at most, whatever font the reader's system has.
pub(super) fn heading_width(text: &str) -> f64 {
    8.6 * text.chars().count() as f64
}

/// Where text is held.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A document in the making.
pub(super) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    /// Adds markup that is already safe.
    pub(super) fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let text = escape(text);
        let anchor = anchor.word();
        self.raw(&format!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.raw(&format!(r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#));
    }

    /// The document, named `title` for screen readers; `summary` tells them the numbers in it.
    pub(super) fn finish(self, title: &str, summary: &str) -> String {
        let (w, h) = (self.width, self.height);
        let mut out = String::with_capacity(self.body.len() + 1200);
        self.open(&mut out, title, summary);
        let _ = write!(out, "\n<style>{STYLE}</style>\n");
        let _ = writeln!(out, r#"<rect class="fg-b" width="{w:.0}" height="{h:.0}" rx="6"/>"#);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// The same to stand inside a page, which brings the style and the background.
    pub(super) fn finish_inside_page(self, title: &str, summary: &str) -> String {
        let mut out = String::with_capacity(self.body.len() + 300);
        self.open(&mut out, title, summary);
        out.push('\n');
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    fn open(&self, out: &mut String, title: &str, summary: &str) {
        let (w, h) = (self.width, self.height);
        let title = escape(title);
        let _ = write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" role="img" aria-label="{title}">"#
        );
        if !summary.is_empty() {
            let _ = write!(out, "<desc>{}</desc>", escape(summary));
        }
    }
}
