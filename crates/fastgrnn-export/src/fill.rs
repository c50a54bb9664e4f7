//! Filling templates: files with `@key@` where a value belongs.
//!
//! Templates stay readable as the C, CMake or JavaScript that they are; a key without a value is a
//! mistake of this crate, which the tests of every target would meet.

/// `template` with each `@key@` replaced by its value.
///
/// Values are not searched for keys again, so that a label such as `@name@` stays what it is.
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
