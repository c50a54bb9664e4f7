//! Templates: files that contain `@key@` where a value belongs.
//!
//! A template stays readable as C, CMake or JavaScript. A key without a value is a bug of this crate,
//! which the tests of every target would find.

/// `template` with each `@key@` replaced by its value.
///
/// Values are not searched for keys, so that a label such as `@name@` is kept as it is.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        let value = after.split_once('@').and_then(|(key, tail)| {
            let found = values.iter().find(|(known, _)| *known == key)?;
            Some((found.1, tail))
        });
        rest = match value {
            Some((value, tail)) => {
                out.push_str(value);
                tail
            }
            None => {
                out.push('@');
                after
            }
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn keys_are_replaced_and_values_are_left_alone() {
        let values = [("name", "@NAME@"), ("NAME", "M")];
        assert_eq!(
            fill("int @name@_step; /* @NAME@ */ a@b @unknown@.", &values),
            "int @NAME@_step; /* M */ a@b @unknown@."
        );
    }
}
