//! The boards, one file of facts each.
//!
//! To add a board with a core that is already known, write its file and add a line to the list
//! below. Commands, help texts, estimates and the firmware builder take everything from there.

use super::info::BoardInfo;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! boards {
    ($($variant:ident = $file:ident,)*) => {
        $(mod $file;)*

        /// A board, by the chip it stands for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Board {
            $(
                #[doc = concat!("The board that `boards/", stringify!($file), ".rs` describes.")]
                $variant,
            )*
        }

        impl Board {
            /// All boards.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];

            /// What is known about this board.
            ///
            /// ```
            /// use fastgrnn_model::device::Board;
            /// assert_eq!(Board::Uno.info().ram, Some(2048));
            /// ```
            pub fn info(self) -> &'static BoardInfo {
                match self {
                    $(Self::$variant => &$file::BOARD,)*
                }
            }
        }
    };
}

boards! {
    Uno = uno,
    M0plus = mkr1000,
    M3 = due,
    M4 = nano_33_ble,
    Riscv32 = hifive1,
    Aarch64 = linux_aarch64,
}

impl Board {
    /// The name in commands and recipes.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The board with this [`Board::id`].
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|board| board.id() == id)
    }

    /// The ids of all boards, separated by commas.
    ///
    /// ```
    /// assert!(fastgrnn_model::device::Board::known_ids().starts_with("uno, m0plus, "));
    /// ```
    pub fn known_ids() -> String {
        Self::ALL.map(Self::id).join(", ")
    }
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Self::from_id(&id).ok_or_else(|| {
            let known = Self::known_ids();
            serde::de::Error::custom(format!("unknown board '{id}', expected one of {known}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, FlashBuffer, QemuMachine};

    #[test]
    fn every_board_is_found_by_its_id() {
        for board in Board::ALL {
            assert_eq!(Board::from_id(board.id()), Some(board));
            let text = serde_json::to_value(board).unwrap();
            assert_eq!(text, board.id());
            assert_eq!(serde_json::from_value::<Board>(text).unwrap(), board);
        }
        assert_eq!(Board::from_id("mega"), None);
        let error = serde_json::from_str::<Board>("\"mega\"").unwrap_err().to_string();
        assert!(error.contains("'mega'") && error.contains("uno, m0plus"), "{error}");
    }

    #[test]
    fn no_two_boards_share_a_name() {
        for (i, board) in Board::ALL.into_iter().enumerate() {
            for other in &Board::ALL[..i] {
                let (a, b) = (board.info(), other.info());
                assert!(
                    a.id != b.id && a.name != b.name && a.short_name != b.short_name,
                    "{} {}",
                    a.id,
                    b.id
                );
            }
        }
    }

    #[test]
    fn the_facts_of_every_board_are_possible() {
        for board in Board::ALL {
            let info = board.info();
            assert!(info.flash.is_none_or(|flash| flash > info.overhead.flash), "{}", info.id);
            assert!(info.ram.is_none_or(|ram| ram > info.overhead.ram), "{}", info.id);
            let powers = match info.flash_timing.map(|timing| timing.buffer) {
                Some(FlashBuffer::Cache { sets, line, .. }) => vec![sets, line],
                Some(FlashBuffer::Prefetch { line }) => vec![line],
                None => Vec::new(),
            };
            assert!(powers.iter().all(|n| n.is_power_of_two()), "{}", info.id);
            assert!(info.clock.is_some() || !matches!(info.emulator, Emulator::Simavr { .. }), "{}", info.id);
            if let Emulator::Qemu(QemuMachine { memory, .. })
            | Emulator::QemuLinux { fallback: QemuMachine { memory, .. } } = info.emulator
            {
                let apart = memory.flash + memory.flash_size <= memory.ram;
                assert!(apart, "{}: flash and RAM of the machine overlap", info.id);
            }
        }
    }
}
