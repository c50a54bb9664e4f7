//! How a table is written: what separates its columns, the sign between whole and fraction, and the
//! lines around the rows.
//!
//! All of it is told from the first lines, unless the request says it. What is skipped, and what is
//! not as in a plain CSV file, leaves a note.

use std::borrow::Cow;

use super::{DataConfig, DataError};
use fastgrnn_core::format::quantity;

fastgrnn_core::choice! {
    /// The sign between the whole part and the fraction of a number.
    Decimal {
        /// 1.5
        #[default]
        Point = "point",
        /// 1,5
        Comma = "comma",
    }
}

/// Lines looked at.
const LOOKED_AT: usize = 200;

/// What begins a line that is a comment.
const COMMENT_MARKS: [&[u8]; 3] = [b"#", b"%", b"//"];

/// Separators in the order they are tried; a blank stands for a run of blanks.
const SEPARATORS: [u8; 5] = [b';', b'\t', b',', b'|', b' '];

/// The rows of a table as plain text, and how to read them.
pub(crate) struct TableText<'a> {
    /// The rows, from the first line of the table on; other lines among them are empty.
    pub bytes: Cow<'a, [u8]>,
    /// Lines of the file before them.
    pub lines_before: u64,
    pub separator: u8,
    pub decimal: Decimal,
    pub notes: Vec<String>,
}

impl<'a> TableText<'a> {
    /// Finds the table in the text of a file.
    pub fn of(text: Cow<'a, [u8]>, config: &DataConfig) -> Result<Self, DataError> {
        let mut notes = Vec::new();
        let (mut start, mut lines_before) = (0, 0);
        let mut skip_line = |start: &mut usize| {
            *start += line_length(&text[*start..]);
            lines_before += 1;
        };
        for _ in 0..config.skip_rows.unwrap_or(0) {
            if start == text.len() {
                break;
            }
            skip_line(&mut start);
        }
        let mut separator = config.delimiter.as_deref().map(delimiter).transpose()?;
        if let Some(named) = named_separator(first_line(&text[start..])) {
            separator.get_or_insert(named);
            skip_line(&mut start);
        }
        let sample = Sample::of(&text[start..]);
        let separator = separator.unwrap_or_else(|| sample.separator());
        let (skipped, table) = sample.preamble(separator);
        if skipped > 0 {
            let lines = quantity(skipped as u64, "line");
            let verbs = if skipped == 1 { ["begins", "was"] } else { ["begin", "were"] };
            let first = String::from_utf8_lossy(sample.lines[0].1).into_owned();
            notes.push(format!(
                "{lines} before the table, which {} with '{}', {} skipped",
                verbs[0],
                first.chars().take(40).collect::<String>().trim(),
                verbs[1]
            ));
        }
        for _ in 0..table {
            skip_line(&mut start);
        }
        let decimal = config.decimal.unwrap_or_else(|| sample.decimal(separator, table));
        if config.decimal.is_none() && decimal == Decimal::Comma {
            notes.push("numbers were read with a decimal comma; see `decimal`".into());
        }
        let has_comments = sample.has_comments;
        let bytes = match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
            Cow::Owned(mut text) => {
                text.drain(..start);
                Cow::Owned(text)
            }
        };
        let (bytes, comments) = without_comments(bytes, has_comments);
        if comments > 0 {
            let were = if comments == 1 { "was" } else { "were" };
            notes.push(format!("{} {were} skipped", quantity(comments as u64, "comment line")));
        }
        if separator == b' ' {
            notes.push("columns were taken to be separated by blanks; see `delimiter`".into());
            return Ok(Self {
                bytes: Cow::Owned(with_tabs(&bytes)),
                lines_before,
                separator: b'\t',
                decimal,
                notes,
            });
        }
        Ok(Self { bytes, lines_before, separator, decimal, notes })
    }
}

/// The separator that the key `delimiter` names.
pub(crate) fn delimiter(text: &str) -> Result<u8, DataError> {
    match text {
        "tab" | "\t" | "\\t" => Ok(b'\t'),
        "blank" | "space" | " " => Ok(b' '),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        _ => match text.as_bytes() {
            [sign] if sign.is_ascii_punctuation() && !matches!(sign, b'"' | b'.' | b'-' | b'+') => Ok(*sign),
            _ => Err(DataError::Setting {
                key: "delimiter".into(),
                problem: format!(
                    "'{text}' separates no columns; use one sign such as ; or |, or tab, or blank"
                ),
            }),
        },
    }
}

/// The separator in a first line such as `sep=;`, which Excel writes.
fn named_separator(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
    let (key, sign) = line.split_at_checked(4)?;
    match (key.eq_ignore_ascii_case(b"sep="), sign) {
        (true, [sign @ (b';' | b',' | b'|' | b'\t')]) => Some(*sign),
        (true, []) => Some(b'\t'),
        _ => None,
    }
}

/// The first line of `text`, without its end.
fn first_line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(text.len());
    &text[..end]
}

/// Bytes of the first line of `text`, with its end.
fn line_length(text: &[u8]) -> usize {
    let end = first_line(text).len();
    match &text[end..] {
        [b'\r', b'\n', ..] => end + 2,
        [] => end,
        _ => end + 1,
    }
}

fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    COMMENT_MARKS.iter().any(|mark| line.starts_with(mark))
}

/// The cells of one line.
fn cells(line: &[u8], separator: u8) -> Vec<&[u8]> {
    if separator == b' ' {
        return line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()).collect();
    }
    let (mut quoted, mut start, mut cells) = (false, 0, Vec::new());
    for (i, &b) in line.iter().enumerate() {
        quoted ^= b == b'"';
        if b == separator && !quoted {
            cells.push(line[start..i].trim_ascii());
            start = i + 1;
        }
    }
    cells.push(line[start..].trim_ascii());
    cells
}

fn is_number(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok())
}

/// Whether a cell is a number with a fraction after a comma.
pub(crate) fn has_decimal_comma(cell: &[u8]) -> bool {
    let mut halves = cell.split(|&b| b == b',');
    let (Some(whole), Some(fraction), None) = (halves.next(), halves.next(), halves.next()) else {
        return false;
    };
    let whole = whole.strip_prefix(b"-").or_else(|| whole.strip_prefix(b"+")).unwrap_or(whole);
    whole.iter().all(u8::is_ascii_digit)
        && fraction.first().is_some_and(u8::is_ascii_digit)
        && is_number(&[b"0.", fraction].concat())
}

/// The first lines of a table, without the empty ones, each with its number counted from 0.
struct Sample<'t> {
    lines: Vec<(usize, &'t [u8])>,
    has_comments: bool,
}

impl<'t> Sample<'t> {
    fn of(text: &'t [u8]) -> Self {
        let (mut lines, mut comments, mut at, mut number) = (Vec::new(), 0, 0, 0);
        let mut quoted = false;
        while at < text.len() && lines.len() - comments < LOOKED_AT {
            let line = first_line(&text[at..]);
            let (began_quoted, is_comment) = (quoted, !quoted && is_comment(line));
            if !is_comment {
                quoted ^= line.iter().filter(|&&b| b == b'"').count() % 2 == 1;
            }
            comments += usize::from(is_comment);
            // A row that goes on over several lines says nothing about columns.
            if !line.trim_ascii().is_empty() && !began_quoted && !quoted {
                lines.push((number, line));
            }
            at += line_length(&text[at..]);
            number += 1;
        }
        let marked = lines.iter().filter(|(_, line)| self::is_comment(line)).count();
        let leading = lines.iter().take_while(|(_, line)| self::is_comment(line)).count();
        // Where most lines look like comments, they are rows.
        let has_comments =
            marked > 0 && marked < lines.len() && (marked == leading || marked * 2 < lines.len());
        if has_comments {
            lines.retain(|(_, line)| !self::is_comment(line));
        }
        Self { lines, has_comments }
    }

    /// The number of columns that most lines have (of equals the larger), and how many lines have it.
    fn columns(&self, separator: u8) -> (usize, usize) {
        let mut counts = std::collections::BTreeMap::new();
        for (_, line) in &self.lines {
            *counts.entry(cells(line, separator).len()).or_insert(0) += 1;
        }
        counts.into_iter().map(|(columns, lines)| (lines, columns)).max().map_or((1, 0), |(l, c)| (c, l))
    }

    /// The separator that gives most lines the same number of columns, at least two.
    fn separator(&self) -> u8 {
        let is_plausible = |separator: &u8| {
            let (columns, lines) = self.columns(*separator);
            let is_table = columns > 1 && lines * 2 >= self.lines.len();
            let rows = self.lines.iter().skip(1).flat_map(|(_, line)| cells(line, *separator));
            let (numbers, all) = rows.fold((0, 0), |(n, all), cell| {
                (n + usize::from(is_number(cell) || has_decimal_comma(cell)), all + 1)
            });
            // Text has blanks in it, too.
            is_table && (*separator != b' ' || (all > 0 && numbers * 2 > all))
        };
        let first = self.lines.first().map_or(&b""[..], |(_, line)| line);
        let in_first = |separator: &u8| *separator != b' ' && cells(first, *separator).len() > 1;
        let tried = SEPARATORS.iter().find(|s| is_plausible(s));
        *tried.or_else(|| SEPARATORS.iter().find(|s| in_first(s))).unwrap_or(&b',')
    }

    /// How many lines before the table are not of it, and the number of the table's first line.
    fn preamble(&self, separator: u8) -> (usize, usize) {
        let (columns, lines) = self.columns(separator);
        let is_row = |line: &[u8]| cells(line, separator).len() == columns;
        let first = self.lines.iter().position(|(_, line)| is_row(line)).unwrap_or(0);
        let has_numbers = |i: usize| cells(self.lines[i].1, separator).into_iter().any(is_number);
        let is_numeric = |i: usize| cells(self.lines[i].1, separator).into_iter().all(is_number);
        let is_bad_row = |i: usize| cells(self.lines[i].1, separator).len() > 1 && is_numeric(i);
        if first == 0 || columns < 2 || lines < 2 || (0..first).any(is_bad_row) {
            return (0, 0);
        }
        // A header with a column too few or too many is a mistake to be told about.
        let above = cells(self.lines[first - 1].1, separator).len();
        if above > 1 && above.abs_diff(columns) == 1 && has_numbers(first) {
            return (0, 0);
        }
        (first, self.lines[first].0)
    }

    /// A decimal comma, if more numbers have one than a point.
    fn decimal(&self, separator: u8, table: usize) -> Decimal {
        if separator == b',' {
            return Decimal::Point;
        }
        let rows = self.lines.iter().filter(|(number, _)| *number >= table).skip(1);
        let (mut commas, mut points) = (0, 0);
        for cell in rows.flat_map(|(_, line)| cells(line, separator)) {
            let cell = cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell);
            commas += usize::from(has_decimal_comma(cell));
            points += usize::from(cell.contains(&b'.') && is_number(cell));
        }
        if commas > points { Decimal::Comma } else { Decimal::Point }
    }
}

/// The same lines with those empty that are comments, and how many these are.
fn without_comments(text: Cow<[u8]>, has_comments: bool) -> (Cow<[u8]>, usize) {
    if !has_comments {
        return (text, 0);
    }
    let (mut kept, mut at, mut comments, mut quoted) = (Vec::with_capacity(text.len()), 0, 0, false);
    while at < text.len() {
        let line = &text[at..at + line_length(&text[at..])];
        if !quoted && is_comment(line) {
            kept.extend(&line[first_line(line).len()..]);
            comments += 1;
        } else {
            quoted ^= line.iter().filter(|&&b| b == b'"').count() % 2 == 1;
            kept.extend(line);
        }
        at += line.len();
    }
    (Cow::Owned(kept), comments)
}

/// The same lines with a tab for every run of blanks outside quotes, and none at the ends.
fn with_tabs(text: &[u8]) -> Vec<u8> {
    let (mut tabbed, mut quoted, mut is_pending) = (Vec::with_capacity(text.len()), false, false);
    let mut is_start = true;
    for &b in text {
        quoted ^= b == b'"';
        match b {
            b'\n' | b'\r' => {
                (is_pending, is_start) = (false, true);
                tabbed.push(b);
            }
            b' ' | b'\t' if !quoted => is_pending = !is_start,
            _ => {
                if std::mem::take(&mut is_pending) {
                    tabbed.push(b'\t');
                }
                is_start = false;
                tabbed.push(b);
            }
        }
    }
    tabbed
}
