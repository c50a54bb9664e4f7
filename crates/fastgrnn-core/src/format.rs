//! Numbers as people read them. The terminal and the page use the same ones.

/// `0.9681` as `96.81 %`, with a deviation where there is one.
///
/// ```
/// assert_eq!(fastgrnn_core::format::fraction(0.9681, Some(0.0042)), "96.81 ± 0.42 %");
/// ```
pub fn fraction(value: f64, sd: Option<f64>) -> String {
    match sd {
        Some(sd) => format!("{:.2} ± {:.2} %", value * 100.0, sd * 100.0),
        None => format!("{:.2} %", value * 100.0),
    }
}

/// A number with about four digits.
///
/// ```
/// assert_eq!(fastgrnn_core::format::number(0.012345), "0.01235");
/// assert_eq!(fastgrnn_core::format::number(1234.6), "1235");
/// ```
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "not a number".into() } else { format!("{value}") };
    }
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    format!("{value:.0$}", decimals(magnitude))
}

/// A number and its deviation to the same decimals.
///
/// ```
/// assert_eq!(fastgrnn_core::format::number_sd(0.9677, 0.0044), "0.9677 ± 0.0044");
/// ```
pub fn number_sd(value: f64, sd: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() || !sd.is_finite() || !(1e-4..1e7).contains(&magnitude) {
        return format!("{} ± {}", number(value), number(sd));
    }
    let digits = decimals(magnitude);
    format!("{value:.digits$} ± {sd:.digits$}")
}

/// Decimals that leave four digits.
fn decimals(magnitude: f64) -> usize {
    (3 - magnitude.log10().floor() as i32).clamp(0, 8) as usize
}

/// A whole number with its thousands apart.
///
/// ```
/// assert_eq!(fastgrnn_core::format::count(1234567), "1,234,567");
/// ```
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things: the count and the noun, in the plural unless there is one thing.
///
/// ```
/// use fastgrnn_core::format::quantity;
/// assert_eq!((quantity(1, "group"), quantity(2, "entry")), ("1 group".into(), "2 entries".into()));
/// assert_eq!((quantity(1_200, "sequence"), quantity(0, "class")), ("1,200 sequences".into(), "0 classes".into()));
/// ```
pub fn quantity(n: u64, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if n == 1 => (noun, ""),
        Some(stem) => (stem, "ies"),
        None if noun.ends_with('s') => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{} {stem}{ending}", count(n))
}

/// Bytes, and from 1 KiB on also in KiB.
///
/// ```
/// assert_eq!(fastgrnn_core::format::bytes(5736), "5,736 B (5.6 KiB)");
/// ```
pub fn bytes(value: u64) -> String {
    match value {
        0..1024 => format!("{value} B"),
        1024..1_048_576 => format!("{} B ({:.1} KiB)", count(value), value as f64 / 1024.0),
        _ => format!("{} B ({:.1} MiB)", count(value), value as f64 / 1_048_576.0),
    }
}

/// Seconds as a person says them.
///
/// ```
/// assert_eq!(fastgrnn_core::format::duration(7.25), "7.2 s");
/// assert_eq!(fastgrnn_core::format::duration(3725.0), "1 h 2 min");
/// ```
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".into();
    }
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 59.95 => format!("{seconds:.1} s"),
        0..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}
