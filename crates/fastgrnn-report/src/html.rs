//! Parts of a page: its frame, tables, headline numbers, sections of text.

use super::figure::Figure;
use super::svg::escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// A page with this heading; `body` writes what stands between it and the footer.
pub fn document(title: &str, subtitle: &str, version: &str, body: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(64 * 1024);
    let title = escape(title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><p>{}</p></header>\n",
        escape(subtitle)
    );
    body(&mut out);
    let _ = write!(
        out,
        "<footer><p><b>measured</b>: observed in this run. <b>derived</b>: computed from measured numbers. \
         <b>analytic</b>: follows from sizes alone. A ± is the standard deviation over seeds.</p>\
         <p>fastgrnn {}. This page is complete in itself: it loads nothing.</p></footer>\n\
         </main>\n</body>\n</html>\n",
        escape(version)
    );
    out
}

/// A table; the first column leans left. Cells are escaped.
pub fn table(out: &mut String, heading: &[&str], rows: &[Vec<String>]) {
    out.push_str("<div class=\"wide\"><table><thead><tr>");
    heading.iter().for_each(|name| out.push_str(&format!("<th>{}</th>", escape(name))));
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let tag = if i == 0 { "th" } else { "td" };
            out.push_str(&format!("<{tag}>{}</{tag}>", escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// The headline numbers as cards.
pub fn figures(out: &mut String, figures: &[Figure]) {
    if figures.is_empty() {
        return;
    }
    out.push_str("<section class=\"cards\">\n");
    for f in figures {
        let _ = writeln!(
            out,
            "<div class=\"card\"><span class=\"label\">{}</span><span class=\"value\">{}</span>\
             <span class=\"kind\">{}</span></div>",
            escape(&f.label),
            escape(&card_text(&f.text())),
            f.kind.word()
        );
    }
    out.push_str("</section>\n");
}

/// Keeps `96.81 ± 0.42 %` and `(5.6 KiB)` on one line each.
fn card_text(text: &str) -> String {
    match text.split_once(" (") {
        Some((main, aside)) => format!("{} ({}", card_text(main), aside.replace(' ', "\u{a0}")),
        None => text.replace(' ', "\u{a0}"),
    }
}

/// A section that shows `text` as it is written.
pub fn text_section(out: &mut String, title: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "<section><h2>{title}</h2>\n<pre>{}</pre></section>", escape(text.trim_end()));
    }
}
