//! Keys as command-line flags.

use super::{Form, Key, Setting};
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches};

/// The flag of a key.
pub fn flag<T: Setting>(key: &Key) -> Arg {
    let mut arg = Arg::new(key.name().to_owned())
        .long(key.name().to_owned())
        .help(key.help())
        .help_heading(key.heading())
        .visible_aliases(key.other_name());
    arg = match key.value_name() {
        Some(name) => arg.value_name(name),
        None => arg.value_name(key.name().to_uppercase().replace('-', "_")),
    };
    let read = |text: &str| T::from_flag(text);
    match T::form() {
        // A negative number is a wrong value, which the range explains better than the parser.
        Form::Value => arg.value_parser(read).allow_negative_numbers(true),
        Form::Signed => arg.value_parser(read).allow_hyphen_values(true),
        Form::Choice(names) => {
            arg.value_parser(PossibleValuesParser::new(names).try_map(|name| T::from_flag(&name)))
        }
        Form::Switch => arg
            .value_parser(read)
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Form::List => arg.value_parser(read).action(ArgAction::Append),
    }
}

/// A parser for the values of one flag, for flags that are not keys.
pub fn parser<T: Setting>() -> ValueParser {
    match T::form() {
        Form::Choice(names) => PossibleValuesParser::new(names).try_map(|name| T::from_flag(&name)).into(),
        _ => ValueParser::new(|text: &str| T::from_flag(text)),
    }
}

/// Takes the value of a key out of what was given on the command line.
pub fn take<T: Setting>(field: &str, matches: &mut ArgMatches) -> Option<T> {
    let values = matches.remove_many::<T>(&field.replace('_', "-"))?;
    values.reduce(|mut all, more| {
        all.extend(more);
        all
    })
}
