//! The settings of a run that is continued, compared with those it was started with.

use super::Config;
use super::recipe::is_local;

/// The settings that decide the result: what checkpoints and finished seeds remember.
pub(crate) fn lasting_settings(config: &Config) -> toml::Table {
    let table = toml::Table::try_from(config).expect("a configuration has no values that TOML lacks");
    table.into_iter().filter(|(key, _)| !is_local(key)).collect()
}

/// Each key that decides the result and differs between two texts, with both values.
pub(super) fn differences(before: &str, now: &str) -> Result<Vec<String>, toml::de::Error> {
    let (before, now): (toml::Table, toml::Table) = (toml::from_str(before)?, toml::from_str(now)?);
    // The data may have moved: its content is compared instead.
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).filter(|key| !is_local(key)).collect();
    keys.sort();
    keys.dedup();
    let text = |value: Option<&toml::Value>| value.map_or("unset".into(), |v| v.to_string());
    let changed = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
    Ok(changed
        .map(|key| format!("{key} was {}, is now {}", text(before.get(key)), text(now.get(key))))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_decide_the_result_are_compared_by_value() {
        let before = "lr = 0.003\nhidden = 8\ndataset = \"a\"\nseed = 1\n";
        let now = "hidden = 8\nlr = 0.05\ndataset = \"b\"\nkeep-u = 0.5\nseed = 1\n";
        assert_eq!(
            differences(before, now).unwrap(),
            ["keep-u was unset, is now 0.5", "lr was 0.003, is now 0.05"]
        );
        assert!(differences(before, "seed=1\nlr=3e-3\nhidden = 8").unwrap().is_empty());
    }
}
