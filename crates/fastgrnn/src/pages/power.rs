//! Numbers that may be too large or too small for an f64, as text.

use fastgrnn_core::format::number;

/// Exponents beyond this are written as powers of ten.
const PLAIN: f64 = 4.0;

/// The number with this decimal logarithm.
///
/// ```
/// use fastgrnn::report::power_of_ten;
/// assert_eq!(power_of_ten(2.0), "100.0");
/// assert_eq!(power_of_ten(612.3), "2.0e612");
/// assert_eq!(power_of_ten(-20.0), "1.0e-20");
/// assert_eq!((power_of_ten(f64::INFINITY), power_of_ten(f64::NEG_INFINITY)), ("∞".into(), "0".into()));
/// ```
pub fn power_of_ten(log: f64) -> String {
    match log {
        _ if log.is_nan() => "–".into(),
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "0".into(),
        _ if log.abs() < PLAIN => number(10f64.powf(log)),
        _ => {
            let exponent = log.floor();
            let mantissa = format!("{:.1}", 10f64.powf(log - exponent));
            match mantissa.as_str() {
                "10.0" => format!("1.0e{}", exponent + 1.0),
                _ => format!("{mantissa}e{exponent}"),
            }
        }
    }
}
