//! Recordings made in code: WAV of any width and header, FLAC with verbatim blocks, sines.
#![allow(dead_code)]

/// The header fields of a WAV file and its sample bytes.
#[derive(Clone)]
pub struct Wav {
    pub tag: u16,
    pub channels: u16,
    pub rate: u32,
    pub bits: u16,
    pub data: Vec<u8>,
}

impl Wav {
    /// 16-bit PCM, channels interleaved.
    pub fn pcm16(rate: u32, channels: u16, samples: &[i16]) -> Self {
        let data = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
        Self { tag: 1, channels, rate, bits: 16, data }
    }

    /// One channel of 16 kHz sound in another format.
    pub fn of(tag: u16, bits: u16, data: Vec<u8>) -> Self {
        Self { tag, channels: 1, rate: 16_000, bits, data }
    }

    /// The 16 bytes of a plain format chunk.
    pub fn format(&self) -> Vec<u8> {
        let block = self.channels.wrapping_mul(self.bits.div_ceil(8));
        let mut format = [self.tag.to_le_bytes(), self.channels.to_le_bytes()].concat();
        format.extend(self.rate.to_le_bytes());
        format.extend((self.rate.wrapping_mul(u32::from(block))).to_le_bytes());
        format.extend([block.to_le_bytes(), self.bits.to_le_bytes()].concat());
        format
    }

    /// The usual file: a format chunk and a data chunk.
    pub fn bytes(&self) -> Vec<u8> {
        riff(&[chunk(b"fmt ", &self.format()), chunk(b"data", &self.data)])
    }
}

/// A chunk with its padding.
pub fn chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut chunk = [id.as_slice(), &(body.len() as u32).to_le_bytes(), body].concat();
    if chunk.len() % 2 == 1 {
        chunk.push(0);
    }
    chunk
}

/// Chunks as a WAV file.
pub fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let body = chunks.concat();
    let length = (body.len() + 4) as u32;
    [b"RIFF".as_slice(), &length.to_le_bytes(), b"WAVE", &body].concat()
}

/// A tone of `hertz` and this amplitude, in samples of 16 bits.
pub fn sine(rate: u32, hertz: f64, amplitude: f64, n: usize) -> Vec<i16> {
    let step = std::f64::consts::TAU * hertz / f64::from(rate);
    (0..n).map(|i| (amplitude * (step * i as f64).sin()).round() as i16).collect()
}

/// A FLAC stream of verbatim blocks; `frames` holds one slice of channels a sample.
pub fn flac(rate: u32, bits: u32, channels: u32, interleaved: &[i32]) -> Vec<u8> {
    const BLOCK: usize = 192;
    let n = interleaved.len() / channels as usize;
    let mut info = Bits::default();
    info.push(BLOCK as u64, 16);
    info.push(BLOCK as u64, 16);
    info.push(0, 48);
    info.push(u64::from(rate), 20);
    info.push(u64::from(channels - 1), 3);
    info.push(u64::from(bits - 1), 5);
    info.push(n as u64, 36);
    info.push(0, 64);
    info.push(0, 64);
    let mut stream = b"fLaC\x80\0\0\x22".to_vec();
    stream.extend(info.bytes);
    for (number, block) in interleaved.chunks(BLOCK * channels as usize).enumerate() {
        let length = block.len() / channels as usize;
        let mut frame = Bits::default();
        frame.push(0b1111_1111_1111_1000, 16);
        frame.push(0b0111, 4); // the block's length follows, in 16 bits
        frame.push(0, 4); // the rate is that of the stream
        frame.push(u64::from(channels - 1), 4);
        frame.push(
            match bits {
                8 => 1,
                12 => 2,
                16 => 4,
                20 => 5,
                24 => 6,
                _ => 0,
            },
            3,
        );
        frame.push(0, 1);
        assert!(number < 128, "longer numbers are not needed here");
        frame.push(number as u64, 8);
        frame.push(length as u64 - 1, 16);
        let check = crc(&frame.bytes, 0x07, 8);
        frame.push(check, 8);
        for channel in 0..channels as usize {
            frame.push(0b0000_0010, 8); // verbatim, no wasted bits
            for i in 0..length {
                let sample = block[i * channels as usize + channel];
                frame.push(sample as u32 as u64 & ((1 << bits) - 1), bits);
            }
        }
        frame.align();
        let check = crc(&frame.bytes, 0x8005, 16);
        frame.push(check, 16);
        stream.extend(frame.bytes);
    }
    stream
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, value: u64, width: u32) {
        for bit in (0..width).rev() {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().unwrap();
            *last |= ((value >> bit & 1) as u8) << (7 - self.used);
            self.used = (self.used + 1) % 8;
        }
    }

    fn align(&mut self) {
        self.used = 0;
    }
}

fn crc(bytes: &[u8], polynomial: u64, width: u32) -> u64 {
    bytes.iter().fold(0, |mut crc, &byte| {
        crc ^= u64::from(byte) << (width - 8);
        for _ in 0..8 {
            crc = crc << 1 ^ if crc >> (width - 1) & 1 == 1 { polynomial } else { 0 };
        }
        crc & ((1 << width) - 1)
    })
}
