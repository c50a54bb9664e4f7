//! Aligned text for the terminal.

use fastgrnn::metrics::Confusion;

/// Rows under a heading; the first column leans left, the others right.
///
/// Widths are counted in characters, which is right for everything but wide scripts.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = heading.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = line(heading.iter().map(|h| (*h).to_owned()), &widths);
    out.push_str(&line(widths.iter().map(|w| "-".repeat(*w)), &widths));
    for row in rows {
        out.push_str(&line(row.iter().cloned(), &widths));
    }
    out
}

fn line(cells: impl Iterator<Item = String>, widths: &[usize]) -> String {
    let mut out = String::new();
    for (i, (cell, width)) in cells.zip(widths).enumerate() {
        match i {
            0 => out.push_str(&format!("  {cell:<width$}")),
            _ => out.push_str(&format!("  {cell:>width$}")),
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// `label: value` lines with the values under each other.
pub fn facts(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(label, value)| format!("  {label:<width$}  {value}\n")).collect()
}

/// Characters of a line beyond which a matrix is no longer readable in a terminal.
const WIDEST: usize = 110;

/// The matrix with a recall at the end of each row, or its largest mistakes when it is too wide.
pub fn confusion(matrix: &Confusion, names: &[String]) -> String {
    let counts = matrix.counts();
    let shown: Vec<String> = names.iter().map(|n| shorten(n, 20)).collect();
    let left = shown.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(4);
    let largest = counts.iter().flatten().max().copied().unwrap_or(0).to_string().len();
    let heads: Vec<String> = names.iter().map(|n| shorten(n, 6)).collect();
    let cell = heads.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(largest).max(3);
    if left + (cell + 1) * names.len() + 12 > WIDEST {
        return largest_mistakes(counts, names);
    }
    let mut out = format!("  {:left$}  predicted\n  {:left$} ", "", "true");
    out.extend(heads.iter().map(|n| format!(" {n:>cell$}")));
    out.push_str("   recall\n");
    for (c, row) in counts.iter().enumerate() {
        out.push_str(&format!("  {:left$} ", shown[c]));
        for &n in row {
            let text = if n == 0 { "·".to_owned() } else { n.to_string() };
            out.push_str(&format!(" {text:>cell$}"));
        }
        let recall = matrix.class(c).recall;
        let recall = recall.map_or("–".into(), |recall| format!("{:.2} %", recall * 100.0));
        out.push_str(&format!("  {recall:>8}\n"));
    }
    out
}

fn largest_mistakes(counts: &[Vec<u64>], names: &[String]) -> String {
    let mut mistakes: Vec<(u64, usize, usize)> = Vec::new();
    for (t, row) in counts.iter().enumerate() {
        mistakes.extend(row.iter().enumerate().filter(|(p, n)| *p != t && **n > 0).map(|(p, &n)| (n, t, p)));
    }
    mistakes.sort_by_key(|&(n, t, p)| (std::cmp::Reverse(n), t, p));
    let rows: Vec<Vec<String>> = mistakes
        .iter()
        .take(10)
        .map(|&(n, t, p)| vec![shorten(&names[t], 30), shorten(&names[p], 30), n.to_string()])
        .collect();
    let text = table(&["true", "predicted", "times"], &rows);
    format!("  {} classes are too many for a matrix here; the most frequent mistakes:\n{text}", names.len())
}

fn shorten(text: &str, limit: usize) -> String {
    // One line a row, whatever a class is called.
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() <= limit {
        return text;
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "1234".into()]];
        assert_eq!(table(&["x", "n"], &rows), "  x        n\n  ----  ----\n  a        1\n  long  1234\n");
    }

    #[test]
    fn a_small_matrix_is_drawn_whole() {
        let mut matrix = Confusion::new(2);
        for (t, p, n) in [(0, 0, 9), (0, 1, 1), (1, 1, 10)] {
            (0..n).for_each(|_| matrix.add(t, p));
        }
        let text = confusion(&matrix, &["still".into(), "moving".into()]);
        let expected = [
            "          predicted",
            "  true     still moving   recall",
            "  still        9      1   90.00 %",
            "  moving       ·     10  100.00 %",
            "",
        ];
        assert_eq!(text.split('\n').collect::<Vec<_>>(), expected);
    }

    #[test]
    fn many_classes_give_the_largest_mistakes() {
        let mut matrix = Confusion::new(40);
        matrix.add(3, 5);
        let names: Vec<String> = (0..40).map(|c| format!("class {c}")).collect();
        let text = confusion(&matrix, &names);
        assert!(
            text.contains("40 classes") && text.contains("class 3") && text.contains("class 5"),
            "{text}"
        );
    }
}
