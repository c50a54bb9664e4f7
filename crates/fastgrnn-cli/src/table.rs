//! Aligned text for the terminal.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "1234".into()]];
        assert_eq!(table(&["x", "n"], &rows), "  x        n\n  ----  ----\n  a        1\n  long  1234\n");
    }
}
