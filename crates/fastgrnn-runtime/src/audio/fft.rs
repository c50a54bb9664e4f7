//! The Fourier transform of a real window: half as many complex points, radix 4, in 32 bits.
//!
//! A complex number is two entries, real and imaginary. Nothing is scaled on the way: the input has
//! as many fraction bits as leave room for the largest sum.

/// The position of complex input `i` of `points` before the transform: its base-4 digits in reverse
/// order. The last digit is base 2 if `points` is not a power of four.
///
/// ```
/// use fastgrnn_runtime::audio::input_position;
/// assert_eq!([0, 1, 2, 3].map(|i| input_position(i, 16)), [0, 4, 8, 12]);
/// assert_eq!(input_position(1, 2), 1);
/// ```
pub fn input_position(mut i: usize, mut points: usize) -> usize {
    let mut place = 0;
    while points > 1 {
        let base = if points == 2 { 2 } else { 4 };
        points /= base;
        place += i % base * points;
        i /= base;
    }
    place
}

/// `floor((re + i im) (c + i s) / 2^15)` in both parts, exactly, with products of 32 bits.
#[inline(always)]
fn turned([re, im]: [i32; 2], turn: &[i16]) -> [i32; 2] {
    let (c, s) = (i32::from(turn[0]), i32::from(turn[1]));
    let ((re, re_low), (im, im_low)) = ((re >> 15, re & 0x7fff), (im >> 15, im & 0x7fff));
    [re * c - im * s + ((re_low * c - im_low * s) >> 15), re * s + im * c + ((re_low * s + im_low * c) >> 15)]
}

/// The transform in place, of numbers that stand where [`input_position`] says. `turns` has steps of half
/// of what the transform's points have.
pub(super) fn transform(z: &mut [i32], turns: &[i16]) {
    let points = z.len() / 2;
    let mut size = 1;
    if points.trailing_zeros() % 2 == 1 {
        for pair in z.chunks_exact_mut(4) {
            let [a, b, c, d] = [pair[0], pair[1], pair[2], pair[3]];
            pair.copy_from_slice(&[a + c, b + d, a - c, b - d]);
        }
        size = 2;
    }
    while size < points {
        for block in z.chunks_exact_mut(8 * size) {
            for k in 0..size {
                butterfly(block, 2 * k, 2 * size, turns, k * (points / size));
            }
        }
        size *= 4;
    }
}

/// Four numbers, `apart` entries from each other; `turn` is where the first turn stands in `turns`.
#[inline(always)]
fn butterfly(z: &mut [i32], at: usize, apart: usize, turns: &[i16], turn: usize) {
    let number = |i: usize| [z[at + i * apart], z[at + i * apart + 1]];
    let (a, mut b, mut c, mut d) = (number(0), number(1), number(2), number(3));
    if turn > 0 {
        b = turned(b, &turns[turn..]);
        c = turned(c, &turns[2 * turn..]);
        d = turned(d, &turns[3 * turn..]);
    }
    let (even, odd) = ([a[0] + c[0], a[1] + c[1]], [a[0] - c[0], a[1] - c[1]]);
    let (sum, difference) = ([b[0] + d[0], b[1] + d[1]], [b[0] - d[0], b[1] - d[1]]);
    let results = [
        [even[0] + sum[0], even[1] + sum[1]],
        [odd[0] + difference[1], odd[1] - difference[0]],
        [even[0] - sum[0], even[1] - sum[1]],
        [odd[0] - difference[1], odd[1] + difference[0]],
    ];
    for (i, result) in results.iter().enumerate() {
        z[at + i * apart..][..2].copy_from_slice(result);
    }
}

/// The powers of the real window's spectrum, each in place of a complex number: low word, high word.
pub(super) fn powers(z: &mut [i32], turns: &[i16], drop: u8) {
    let points = z.len() / 2;
    let of = |re: i32, im: i32| {
        let power = power(re.unsigned_abs(), im.unsigned_abs(), u32::from(drop));
        [power as u32 as i32, (power >> 32) as u32 as i32]
    };
    let first = of(2 * (z[0] + z[1]), 0);
    z[..2].copy_from_slice(&first);
    for k in 1..=points / 2 {
        let (at, mirror) = (2 * k, 2 * (points - k));
        let (re, im, re_mirror, im_mirror) = (z[at], z[at + 1], z[mirror], z[mirror + 1]);
        // Twice the even and the odd samples' spectra, the odd ones' times i.
        let even = [re + re_mirror, im - im_mirror];
        let odd = turned([re - re_mirror, im + im_mirror], &turns[at..]);
        z[at..at + 2].copy_from_slice(&of(even[0] + odd[1], even[1] - odd[0]));
        z[mirror..mirror + 2].copy_from_slice(&of(even[0] - odd[1], even[1] + odd[0]));
    }
}

/// `(re^2 + im^2) / 2^drop`, of as many leading bits of both as 32-bit products take.
fn power(re: u32, im: u32, drop: u32) -> u64 {
    let mut cut = 0;
    while (re | im) >> cut >= 1 << 15 {
        cut += 4;
    }
    let (re, im) = (re >> cut, im >> cut);
    let power = u64::from(re * re + im * im);
    if 2 * cut >= drop { power << (2 * cut - drop) } else { power >> (drop - 2 * cut) }
}
