//! Firmware built for a board, run in an emulator and compared with the host bit for bit.
