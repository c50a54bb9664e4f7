//! The boards: what each has room for and how fast it runs.

use serde::{Deserialize, Serialize};

/// A board, by the chip it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// Arduino Uno.
    Uno,
    /// Arduino MKR1000 class.
    M0plus,
    /// Arduino Due class.
    M3,
    /// Arduino Nano 33 BLE class.
    M4,
    /// HiFive1 class.
    Riscv32,
    /// A Linux computer such as a Raspberry Pi.
    Aarch64,
}

/// What is known of a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// As `--board` names it.
    pub id: &'static str,
    /// The board and its chip, for people.
    pub name: &'static str,
    /// Bytes of program memory that a program may use; `None` where it is no limit.
    pub flash: Option<usize>,
    /// Bytes of RAM; `None` where it is no limit.
    pub ram: Option<usize>,
    /// Clock in Hz; `None` where milliseconds are not given.
    pub clock: Option<u32>,
}

impl Board {
    /// All boards.
    pub const ALL: [Self; 6] = [Self::Uno, Self::M0plus, Self::M3, Self::M4, Self::Riscv32, Self::Aarch64];

    /// What is known of this board.
    ///
    /// ```
    /// use fastgrnn_model::device::Board;
    /// assert_eq!(Board::Uno.facts().ram, Some(2048));
    /// ```
    pub fn facts(self) -> Facts {
        let kib = |n: usize| Some(n * 1024);
        match self {
            // 512 bytes of the 32 KiB belong to the boot loader.
            Self::Uno => Facts {
                id: "uno",
                name: "Arduino Uno (ATmega328P)",
                flash: Some(32 * 1024 - 512),
                ram: kib(2),
                clock: Some(16_000_000),
            },
            // 8 KiB of the 256 KiB belong to the boot loader.
            Self::M0plus => Facts {
                id: "m0plus",
                name: "Arduino MKR1000 (SAMD21, Cortex-M0+)",
                flash: kib(248),
                ram: kib(32),
                clock: Some(48_000_000),
            },
            Self::M3 => Facts {
                id: "m3",
                name: "Arduino Due (SAM3X8E, Cortex-M3)",
                flash: kib(512),
                ram: kib(96),
                clock: Some(84_000_000),
            },
            Self::M4 => Facts {
                id: "m4",
                name: "Arduino Nano 33 BLE (nRF52840, Cortex-M4)",
                // Of 1 MiB, less the boot loader's 64 KiB.
                flash: kib(960),
                ram: kib(256),
                clock: Some(64_000_000),
            },
            // Programs run from external flash behind the boot loader's 64 KiB; 16 KiB of cache in front.
            Self::Riscv32 => Facts {
                id: "riscv32",
                name: "HiFive1 Rev B (FE310-G002, RV32IMAC)",
                flash: kib(4032),
                ram: kib(16),
                clock: Some(320_000_000),
            },
            Self::Aarch64 => {
                Facts { id: "aarch64", name: "64-bit ARM Linux", flash: None, ram: None, clock: None }
            }
        }
    }

    /// The board as a sentence calls it.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Uno => "an Uno",
            Self::M0plus => "an MKR1000",
            Self::M3 => "a Due",
            Self::M4 => "a Nano 33 BLE",
            Self::Riscv32 => "a HiFive1",
            Self::Aarch64 => "a 64-bit ARM",
        }
    }

    /// The board that `--board` names so.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| b.facts().id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_is_found_by_its_id() {
        for board in Board::ALL {
            assert_eq!(Board::from_id(board.facts().id), Some(board));
            assert_eq!(serde_json::to_value(board).unwrap(), board.facts().id);
        }
        assert_eq!(Board::from_id("mega"), None);
    }
}
