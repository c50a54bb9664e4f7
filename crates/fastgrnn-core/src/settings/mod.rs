//! Settings: each key is declared once, and everything else follows from the declaration.
//!
//! A group of keys is declared with [`settings!`](crate::settings!). The declaration of a key is its
//! help text, name, type, default and range. From it the macro makes
//!
//! - the *recipe* of the group: a struct in which every key is optional, as a person writes it in a
//!   TOML file or as command-line flags,
//! - the *config* of the group: a struct in which every key has its final value,
//! - the trait [`Group`]: overlaying one recipe with another, filling in defaults, checking ranges,
//!   reading and writing keys with serde, and listing the keys for help and documentation,
//! - with the feature `clap`, the command-line flags.
//!
//! [`settings_groups!`](crate::settings_groups!) puts groups together. Files and flags stay flat: the
//! groups only structure the code.
//!
//! ```
//! use fastgrnn_core::settings::Group;
//!
//! fastgrnn_core::settings! {
//!     /// How a model is trained.
//!     "Training", TrainingRecipe => TrainingConfig {
//!         /// Learning rate
//!         lr: f64 = derived("0.003 for adam, 0.1 for sgd"), value("X"), range(0.0..10.0);
//!         /// Passes over the training data
//!         epochs: usize = constant(30), value("N"), range(1..=1000);
//!         /// Stop after this many epochs without an improvement
//!         patience: usize = optional, value("N");
//!     }
//! }
//!
//! let recipe = TrainingRecipe { epochs: Some(0), ..TrainingRecipe::default() };
//! let error = recipe.check().unwrap_err().to_string();
//! assert_eq!(error, "epochs = 0: it must be between 1 and 1000");
//!
//! let mut recipe = TrainingRecipe::default().with_defaults();
//! recipe.lr = Some(0.003);
//! let config = recipe.complete().unwrap();
//! assert_eq!((config.lr, config.epochs, config.patience), (0.003, 30, None));
//! ```

mod choice;
#[cfg(feature = "clap")]
mod flags;
mod group;
mod groups;
mod key;
mod range;
mod value;

pub use choice::Choice;
#[cfg(feature = "clap")]
pub use clap;
#[cfg(feature = "clap")]
pub use flags::{flag, parser, take};
pub use group::{Group, MissingKey};
pub use key::{Key, KeyCheck};
pub use range::{Above, Holds, OutOfRange, Rule, above, holds};
pub use serde;
pub use value::{Form, InvalidSetting, Setting};

/// The largest count that a setting may have: far beyond use, far from overflow, and a number that
/// TOML has.
pub const MAX_COUNT: usize = (1 << 31) - 1;
