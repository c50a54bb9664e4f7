//! `.ts`, the format of the UEA and UCR time series archives.
//!
//! A header of `@` lines, then one sequence a line after `@data`: its dimensions between colons,
//! each a comma-separated list of values, and the label last. Sequences may differ in length; the
//! dimensions of one sequence may not. Time stamps are refused.

use std::collections::BTreeMap;

use super::labels::find_class;
use super::missing::{self, fill};
use super::part::Part;
use super::part::RawLabels;
use super::{DataError, LabelKind, Missing, Sequences};
use fastgrnn_core::format::quantity;

#[derive(Default)]
struct TsHeader {
    dimensions: Option<usize>,
    univariate: bool,
    equal_length: bool,
    series_length: Option<usize>,
    classes: Option<Vec<String>>,
    has_class: bool,
    has_target: bool,
}

/// Reads one file. Without `labelled`, a label that is there is ignored.
pub(crate) fn read(file: &str, bytes: &[u8], labelled: bool, missing: Missing) -> Result<Part, DataError> {
    let corrupt = |place: String, problem: String| DataError::Corrupt { file: file.into(), place, problem };
    let text = std::str::from_utf8(bytes)
        .map_err(|e| corrupt(format!("byte {}", e.valid_up_to()), "not UTF-8 text".into()))?;
    let mut header = TsHeader::default();
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut in_data = false;
    for (i, line) in lines.by_ref() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(directive) = line.strip_prefix('@') else {
            let problem = "a line that begins with neither @ nor # before @data".into();
            return Err(corrupt(format!("line {}", i + 1), problem));
        };
        if directive.eq_ignore_ascii_case("data") {
            in_data = true;
            break;
        }
        header.take(directive).map_err(|problem| corrupt(format!("line {}", i + 1), problem))?;
    }
    if text.trim().is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "a .ts file was expected".into() });
    }
    if !in_data {
        return Err(corrupt("end".into(), "no @data line; is this a .ts file, and whole?".into()));
    }
    let has_label = header.has_class || header.has_target;
    let mut rows = TsRows { file, header: &header, missing, filled: 0, x: None, row: Vec::new() };
    let mut labels = Vec::new();
    for (i, line) in lines {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let label = rows.push(i + 1, line, has_label)?;
        if header.has_target && labelled && label.parse::<f64>().is_ok_and(|v| !v.is_finite()) {
            return Err(DataError::NotFinite {
                file: file.into(),
                place: format!("line {}, target", i + 1),
                value: label.into(),
                advice: "correct it, or remove the line",
            });
        }
        if header.has_target && labelled && label.parse::<f64>().is_err() {
            let problem = format!("target '{label}' is not a number");
            return Err(corrupt(format!("line {}", i + 1), problem));
        }
        if let Some(classes) = &header.classes
            && labelled
            && find_class(label, classes).is_none()
        {
            return Err(DataError::LabelOutOfRange {
                file: file.into(),
                place: format!("line {}", i + 1),
                label: label.into(),
                known: super::names::listed(classes),
            });
        }
        labels.push(label.to_string());
    }
    let counts = BTreeMap::from([(file.to_string(), rows.filled)]);
    let Some(x) = rows.x else {
        return Err(DataError::Empty { file: file.into(), hint: "nothing follows @data".into() });
    };
    let y = if has_label && labelled { RawLabels::Text(labels) } else { RawLabels::None };
    let mut part = Part::new(file, x, y);
    part.notes.extend(missing::note(&counts, missing));
    part.classes = header.classes;
    part.kind = match (header.has_class, header.has_target) {
        (true, _) => LabelKind::Class,
        (_, true) => LabelKind::Value,
        _ => LabelKind::Auto,
    };
    Ok(part)
}

impl TsHeader {
    fn take(&mut self, directive: &str) -> Result<(), String> {
        let mut words = directive.split_whitespace();
        let key = words.next().unwrap_or_default().to_ascii_lowercase();
        let value = words.next().unwrap_or_default();
        let truth = || match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("@{key} must be true or false, not '{other}'")),
        };
        let count = || value.parse::<usize>().map_err(|_| format!("@{key} must be a number, not '{value}'"));
        match key.as_str() {
            "timestamps" if truth()? => {
                return Err("time stamps are not supported; store evenly spaced values".into());
            }
            "univariate" => self.univariate = truth()?,
            "dimensions" | "dimension" => self.dimensions = Some(count()?),
            "equallength" => self.equal_length = truth()?,
            "serieslength" => self.series_length = Some(count()?),
            "classlabel" => {
                self.has_class = truth()?;
                let names: Vec<String> = words.map(str::to_string).collect();
                self.classes = (self.has_class && !names.is_empty()).then_some(names);
            }
            "targetlabel" => self.has_target = truth()?,
            _ => {}
        }
        Ok(())
    }
}

struct TsRows<'a> {
    file: &'a str,
    header: &'a TsHeader,
    missing: Missing,
    /// How many values were missing.
    filled: usize,
    x: Option<Sequences>,
    row: Vec<f32>,
}

impl TsRows<'_> {
    /// Reads one sequence and returns its label.
    fn push<'l>(&mut self, line_number: usize, line: &'l str, has_label: bool) -> Result<&'l str, DataError> {
        let corrupt = |problem: String| DataError::Corrupt {
            file: self.file.into(),
            place: format!("line {line_number}"),
            problem,
        };
        let (series, label) = match (has_label, line.rsplit_once(':')) {
            (true, Some((series, label))) => (series, label.trim()),
            (true, None) => return Err(corrupt("no label (it follows the last colon)".into())),
            (false, _) => (line, ""),
        };
        let dim = series.split(':').count();
        let expected = self.x.as_ref().map(Sequences::dim).or(self.header.dimensions);
        let expected = if self.header.univariate { Some(1) } else { expected };
        if expected.is_some_and(|expected| expected != dim) {
            let expected = expected.unwrap_or_default();
            return Err(corrupt(format!("{}, expected {expected}", quantity(dim as u64, "dimension"))));
        }
        let steps = series.split(':').next().map_or(0, |first| first.split(',').count());
        let wanted = match (&self.x, self.header.equal_length, self.header.series_length) {
            (_, true, Some(length)) => Some(length),
            (Some(x), true, None) => Some(x.steps(0)),
            _ => None,
        };
        if wanted.is_some_and(|wanted| wanted != steps) {
            let wanted = wanted.unwrap_or_default();
            return Err(corrupt(format!(
                "{}, but the header says {wanted} in each",
                quantity(steps as u64, "value")
            )));
        }
        for (d, dimension) in series.split(':').enumerate() {
            let found = dimension.split(',').count();
            if found != steps {
                return Err(corrupt(format!(
                    "dimension {d} has {}, dimension 0 has {steps}; lengths may differ between sequences only",
                    quantity(found as u64, "value")
                )));
            }
        }
        self.row.clear();
        self.row.resize(steps * dim, 0.0);
        for (d, dimension) in series.split(':').enumerate() {
            for (t, value) in dimension.split(',').enumerate() {
                let value = value.trim();
                let parsed = if value == "?" { Ok(f32::NAN) } else { value.parse::<f32>() };
                match parsed {
                    Ok(v) if v.is_finite() || (v.is_nan() && self.missing != Missing::Error) => {
                        self.row[t * dim + d] = v
                    }
                    Ok(_) => {
                        return Err(DataError::NotFinite {
                            file: self.file.into(),
                            place: format!("line {line_number}, dimension {d}, value {t}"),
                            value: value.into(),
                            advice: "correct it, or see `missing`, which holds or interpolates missing values",
                        });
                    }
                    Err(_) => {
                        return Err(corrupt(format!(
                            "dimension {d}, value {t}: '{value}' is not a number; correct it or remove the line"
                        )));
                    }
                }
            }
        }
        let count = self.row.iter().filter(|v| v.is_nan()).count();
        if count > 0 {
            self.filled += count;
            self.fill(line_number, steps, dim)?;
        }
        self.x.get_or_insert_with(|| Sequences::new(dim)).push(&self.row);
        Ok(label)
    }

    /// Fills in the missing values of the row, or drops their steps.
    fn fill(&mut self, line_number: usize, steps: usize, dim: usize) -> Result<(), DataError> {
        let mut kept: Vec<usize> = (0..steps).collect();
        let all_missing = |feature: String| DataError::AllMissing {
            file: self.file.into(),
            place: format!("line {line_number}"),
            feature,
            missing: self.missing,
        };
        fill(&mut self.row, dim, &mut kept, self.missing)
            .map_err(|d| all_missing(format!("dimension {d}")))?;
        if kept.is_empty() {
            return Err(all_missing("every dimension".into()));
        }
        if kept.len() < steps {
            self.row = kept.iter().flat_map(|t| &self.row[t * dim..(t + 1) * dim]).copied().collect();
        }
        Ok(())
    }
}
