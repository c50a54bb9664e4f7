//! `docs/integer-features.md`, formula by formula, in integers so wide that nothing can overflow
//! unseen. Every value is held to the width that the page promises.

use fastgrnn_runtime::audio::Tables;

#[derive(Clone, Copy)]
struct Complex(i128, i128);

impl Complex {
    fn plus(self, other: Self) -> Self {
        Self(wide(self.0 + other.0), wide(self.1 + other.1))
    }

    fn minus(self, other: Self) -> Self {
        Self(wide(self.0 - other.0), wide(self.1 - other.1))
    }

    fn conjugate(self) -> Self {
        Self(self.0, -self.1)
    }

    fn times_i(self) -> Self {
        Self(-self.1, self.0)
    }
}

/// A value of the transform: 32 bits.
#[track_caller]
fn wide(value: i128) -> i128 {
    assert!(value.abs() < 1 << 31, "{value} leaves 32 bits");
    value
}

fn floor(value: i128, shift: u32) -> i128 {
    value.div_euclid(1 << shift)
}

fn rounded(value: i128, shift: u32) -> i128 {
    if shift == 0 { value } else { floor(value + (1 << (shift - 1)), shift) }
}

/// Sections 1 to 8 for a whole recording.
pub fn rows(t: &Tables, x: &[i16]) -> Vec<i16> {
    let (window, hop) = (t.len as usize, t.hop as usize);
    let mut rows = Vec::new();
    let mut start = 0;
    // Samples that belong to no frame yet.
    let mut unseen = 0;
    while start + window <= x.len() {
        rows.extend(row(t, x, start, window));
        unseen = start + window;
        start += hop;
    }
    if unseen < x.len() {
        rows.extend(row(t, x, start, x.len() - start));
    }
    rows
}

fn row(t: &Tables, x: &[i16], start: usize, valid: usize) -> Vec<i16> {
    let logs = logs(t, &powers(t, &spectrum(t, transform(t, windowed(t, x, start, valid)))));
    if t.cosines.is_empty() {
        return logs.into_iter().map(|l| i16::try_from(l).unwrap()).collect();
    }
    let coefficient = |row: &[i16]| {
        let sum: i128 = row.iter().zip(&logs).map(|(&c, l)| i128::from(c) * l).sum();
        rounded(wide(sum), t.cosine_bits.into()).clamp(-32_768, 32_767) as i16
    };
    t.cosines.chunks(logs.len()).map(coefficient).collect()
}

fn windowed(t: &Tables, x: &[i16], start: usize, valid: usize) -> Vec<Complex> {
    let window = t.len as usize;
    let z = |n: usize| {
        if n >= valid {
            return 0;
        }
        let mirrored = n.min(window - 1 - n);
        let before = if start + n == 0 { 0 } else { x[start + n - 1].into() };
        let now = i128::from(t.window[mirrored]) * i128::from(x[start + n]);
        rounded(wide(now - i128::from(t.before[mirrored]) * before), 15 - u32::from(t.fraction))
    };
    (0..t.fft as usize / 2).map(|i| Complex(z(2 * i), z(2 * i + 1))).collect()
}

fn turn(t: &Tables, z: Complex, k: usize) -> Complex {
    let (c, s) = (i128::from(t.turns[2 * k]), i128::from(t.turns[2 * k + 1]));
    Complex(wide(floor(z.0 * c - z.1 * s, 15)), wide(floor(z.0 * s + z.1 * c, 15)))
}

/// Section 3 by its recursion: the transform of each residue's numbers, then one stage of fours.
fn transform(t: &Tables, z: Vec<Complex>) -> Vec<Complex> {
    let m = z.len();
    if m == 1 {
        return z;
    }
    if m == 2 {
        return vec![z[0].plus(z[1]), z[0].minus(z[1])];
    }
    let parts: Vec<Vec<Complex>> =
        (0..4).map(|r| transform(t, z.iter().skip(r).step_by(4).copied().collect())).collect();
    let q = m / 4;
    let mut out = vec![Complex(0, 0); m];
    let points = t.fft as usize / 2;
    for k in 0..q {
        let turned =
            |r: usize| if k == 0 { parts[r][0] } else { turn(t, parts[r][k], r * k * points / (2 * q)) };
        let (a, b, c, d) = (parts[0][k], turned(1), turned(2), turned(3));
        out[k] = a.plus(c).plus(b.plus(d));
        out[k + q] = a.minus(c).minus(b.minus(d).times_i());
        out[k + 2 * q] = a.plus(c).minus(b.plus(d));
        out[k + 3 * q] = a.minus(c).plus(b.minus(d).times_i());
    }
    out
}

fn spectrum(t: &Tables, z: Vec<Complex>) -> Vec<Complex> {
    let points = z.len();
    let mut y = vec![Complex(2 * (z[0].0 + z[0].1), 0); points];
    for k in 1..=points / 2 {
        let m = points - k;
        let even = z[k].plus(z[m].conjugate());
        let odd = turn(t, z[k].minus(z[m].conjugate()), k).times_i();
        y[m] = even.plus(odd).conjugate();
        y[k] = even.minus(odd);
    }
    y
}

fn powers(t: &Tables, y: &[Complex]) -> Vec<u128> {
    let power = |&Complex(a, b): &Complex| {
        let (a, b) = (wide(a).unsigned_abs(), wide(b).unsigned_abs());
        let u = [0, 4, 8, 12, 16].into_iter().find(|u| a >> u < 1 << 15 && b >> u < 1 << 15).unwrap();
        (((a >> u).pow(2) + (b >> u).pow(2)) << (2 * u)) >> t.drop
    };
    y.iter().map(power).collect()
}

fn logs(t: &Tables, p: &[u128]) -> Vec<i128> {
    let e = |i: usize| t.edges[i] as usize;
    let n = |i: usize| (e(i + 1) - e(i)) as u128;
    let falling = |i: usize| -> u128 { (e(i)..e(i + 1)).map(|k| (e(i + 1) - k) as u128 * p[k]).sum() };
    let rising = |i: usize| -> u128 { (e(i)..e(i + 1)).map(|k| (k - e(i)) as u128 * p[k]).sum() };
    let log = |j: usize| {
        let v = rising(j) * n(j + 1) + falling(j + 1) * n(j);
        assert!(v < 1 << 64, "the sum behind filter {j} leaves 64 bits");
        let floor = i128::from(t.floor);
        if v == 0 { floor } else { floor.max(rounded(lambda(v) - i128::from(t.offsets[j]), 8)) }
    };
    (0..t.offsets.len()).map(log).collect()
}

fn lambda(v: u128) -> i128 {
    let g = v.ilog2();
    let m = ((v << 15) >> g) as i128 - (1 << 15);
    let (i, r) = (m / 1_024, m % 1_024);
    let table = |i: i128| ((1.0 + i as f64 / 32.0).ln() * 65_536.0).round() as i128;
    45_426 * i128::from(g) + table(i) + rounded((table(i + 1) - table(i)) * r, 10)
}
