//! The image's check sum.

/// Where the check sum lies in an image.
pub(super) const CHECKSUM_AT: usize = 8;

/// CRC-16 (polynomial 0x1021, start 0xFFFF) of an image, its own two bytes taken as 0.
pub fn checksum(image: &[u8]) -> u16 {
    let mut crc = 0xFFFF_u16;
    for (i, &byte) in image.iter().enumerate() {
        let byte = if i == CHECKSUM_AT || i == CHECKSUM_AT + 1 { 0 } else { byte };
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 };
        }
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_usual_crc_where_nothing_is_left_out() {
        // The published check value, for fewer bytes than the check sum's place.
        assert_eq!(checksum(b"12345678"), 0xA12B);
        assert_eq!(checksum(b""), 0xFFFF);
    }
}
