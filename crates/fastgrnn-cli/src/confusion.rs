//! The confusion matrix on a terminal.

use crate::table::table;
use fastgrnn::metrics::Confusion;
use std::collections::HashSet;

/// The longest name of a row; the columns of the counts need the rest of the line.
const LONGEST_ROW: usize = 24;
/// The shortest cut names of columns; below, columns have numbers.
const SHORTEST: usize = 5;

/// The matrix with a recall at the end of each row, in lines of at most `width` characters. Names of columns
/// are cut where the line is too short, so that they stay different; where that cannot be, columns are
/// numbered. If not even that fits, the most frequent mistakes.
pub fn confusion(matrix: &Confusion, names: &[String], width: usize) -> String {
    let counts = matrix.counts();
    let names: Vec<String> = names.iter().map(|name| on_one_line(name)).collect();
    let digits = counts.iter().flatten().max().copied().unwrap_or(0).to_string().len();
    let rows = distinct(&names, LONGEST_ROW).unwrap_or_else(|| names.clone());
    // Blanks before and after the name, and the recall.
    let room = |rows: &[String]| width.saturating_sub(longest(rows).max(4) + 14) / names.len().max(1);
    let limit = room(&rows).saturating_sub(1);
    let heads = if limit >= SHORTEST.min(longest(&names)) { distinct(&names, limit) } else { None };
    if let Some(heads) = heads.filter(|heads| longest(heads).max(digits).max(3) <= limit) {
        return draw(matrix, &rows, &heads, digits);
    }
    let numbers: Vec<String> = (1..=names.len()).map(|n| n.to_string()).collect();
    let rows: Vec<String> = numbers.iter().zip(&rows).map(|(n, name)| format!("{n} {name}")).collect();
    match longest(&numbers).max(digits).max(3) < room(&rows) {
        true => draw(matrix, &rows, &numbers, digits),
        false => largest_mistakes(counts, &names),
    }
}

fn draw(matrix: &Confusion, rows: &[String], heads: &[String], digits: usize) -> String {
    let (left, cell) = (longest(rows).max(4), longest(heads).max(digits).max(3));
    let mut out = format!("  {:left$}  predicted\n  {:left$} ", "", "true");
    out.extend(heads.iter().map(|n| format!(" {n:>cell$}")));
    out.push_str("   recall\n");
    for (c, row) in matrix.counts().iter().enumerate() {
        out.push_str(&format!("  {:left$} ", rows[c]));
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
        .map(|&(n, t, p)| vec![cut(&names[t], 30, 29), cut(&names[p], 30, 29), n.to_string()])
        .collect();
    let text = table(&["true", "predicted", "times"], &rows);
    format!("  {} classes are too many for a matrix here; the most frequent mistakes:\n{text}", names.len())
}

fn longest(names: &[String]) -> usize {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0)
}

/// The names in at most `limit` characters each, all different if the names are.
fn distinct(names: &[String], limit: usize) -> Option<Vec<String>> {
    if longest(names) <= limit {
        return Some(names.to_vec());
    }
    // The beginning of a name says most; the end is kept where beginnings are the same.
    (0..limit).rev().find_map(|begin| {
        let shown: Vec<String> = names.iter().map(|name| cut(name, limit, begin)).collect();
        let different = |names: &[String]| names.iter().collect::<HashSet<_>>().len();
        (different(&shown) == different(names)).then_some(shown)
    })
}

/// A name in at most `limit` characters: the first `begin` ones and as many of the last as there is room for.
fn cut(name: &str, limit: usize, begin: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= limit {
        return name.to_owned();
    }
    let end = limit - 1 - begin;
    all[..begin].iter().chain(&['…']).chain(&all[all.len() - end..]).collect()
}

/// One line a row, whatever a class is called.
fn on_one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn fits(text: &str, width: usize) {
        assert!(text.lines().all(|line| line.chars().count() <= width), "wider than {width}:\n{text}");
    }

    #[test]
    fn a_small_matrix_is_drawn_whole() {
        let mut matrix = Confusion::new(2);
        for (t, p, n) in [(0, 0, 9), (0, 1, 1), (1, 1, 10)] {
            (0..n).for_each(|_| matrix.add(t, p));
        }
        let text = confusion(&matrix, &names(&["still", "moving"]), 80);
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
    fn names_are_whole_where_there_is_room_and_different_where_there_is_not() {
        let matrix = Confusion::new(4);
        let classes = names(&["walking-upstairs", "walking-downstairs", "running", "standing"]);
        let whole = confusion(&matrix, &classes, 120);
        fits(&whole, 120);
        assert!(classes.iter().all(|name| whole.matches(name.as_str()).count() == 2), "{whole}");
        for width in 60..120 {
            let text = confusion(&matrix, &classes, width);
            fits(&text, width);
            let heads: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
            assert_eq!(heads.iter().collect::<HashSet<_>>().len(), heads.len(), "{text}");
        }
    }

    #[test]
    fn short_names_stay_as_they_are() {
        let mut matrix = Confusion::new(10);
        (0..30).for_each(|_| matrix.add(3, 4));
        let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let text = confusion(&matrix, &digits, 60);
        fits(&text, 60);
        let heads: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(heads[1..=10], digits, "{text}");
        assert!(confusion(&matrix, &digits, 40).contains("too many for a matrix"));
    }

    #[test]
    fn names_that_cannot_be_cut_apart_are_numbered() {
        let mut matrix = Confusion::new(8);
        matrix.add(7, 0);
        let classes: Vec<String> = (0..8).map(|c| format!("gesture number {c} of the left hand")).collect();
        let text = confusion(&matrix, &classes, 80);
        fits(&text, 80);
        assert!(text.contains("8 gesture") && text.lines().nth(1).unwrap().contains("  8 "), "{text}");
    }

    #[test]
    fn many_classes_give_the_largest_mistakes() {
        let mut matrix = Confusion::new(40);
        matrix.add(3, 5);
        let names: Vec<String> = (0..40).map(|c| format!("class {c}")).collect();
        let text = confusion(&matrix, &names, 80);
        assert!(
            text.contains("40 classes") && text.contains("class 3") && text.contains("class 5"),
            "{text}"
        );
    }
}
