//! Parts of a page: its frame, tables, headline numbers, sections of text.

use super::figure::Figure;
use super::svg::{self, escape};
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// `text` as it is written inside an element.
pub fn escaped(text: &str) -> String {
    escape(text)
}

/// A page with this heading; `body` writes what stands between it and the footer.
pub fn document(title: &str, subtitle: &str, version: &str, body: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(64 * 1024);
    let title = escape(title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{}\n</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><p>{}</p></header>\n",
        svg::STYLE,
        escape(subtitle)
    );
    body(&mut out);
    let _ = write!(
        out,
        "<footer><p><b>measured</b>: observed in this run. <b>derived</b>: computed from measured numbers or from \
         the shape of the network. <b>modelled</b>: computed with a model of the board. A ± is the standard \
         deviation over seeds.</p>\
         <p>fastgrnn {}. This page is complete in itself: it loads nothing.</p></footer>\n\
         </main>\n</body>\n</html>\n",
        escape(version)
    );
    out
}

/// Opens a table of these columns, in a box that scrolls where the page is too narrow. The keyboard can
/// scroll it, too, and `title` names it for screen readers.
pub(super) fn open_table(out: &mut String, title: &str, columns: &[&str]) {
    let title = escape(title);
    let _ = write!(
        out,
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\"><table><thead><tr>"
    );
    columns.iter().for_each(|name| out.push_str(&format!("<th scope=\"col\">{}</th>", escape(name))));
    out.push_str("</tr></thead><tbody>\n");
}

/// A longer text in a cell is read as a sentence.
const LONGEST_VALUE: usize = 40;

/// A table, which `title` names for screen readers; the first column leans left. Cells are escaped.
pub fn table(out: &mut String, title: &str, columns: &[&str], rows: &[Vec<String>]) {
    open_table(out, title, columns);
    for row in rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let is_prose = cell.chars().count() > LONGEST_VALUE;
            let cell = escape(cell);
            out.push_str(&match (i, is_prose) {
                (0, _) => format!("<th scope=\"row\">{cell}</th>"),
                (_, true) => format!("<td class=\"prose\">{cell}</td>"),
                (_, false) => format!("<td>{cell}</td>"),
            });
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
        let _ = writeln!(
            out,
            "<section><h2>{title}</h2>\n<pre tabindex=\"0\">{}</pre></section>",
            escape(text.trim_end())
        );
    }
}
