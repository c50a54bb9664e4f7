//! Where the filters lie. Triangles between points of the spectrum that are equally far apart in
//! mel; neighbours overlap by half, so between two edges one filter rises as the other falls.

/// The `filters + 2` edges of the filters between `low` and `high` Hz, as points of a spectrum that
/// a transform of `fft` points makes of `rate` samples a second.
pub(super) fn edges(low: u32, high: u32, filters: usize, fft: usize, rate: u32) -> Vec<usize> {
    let mel = |hz: f64| 2_595.0 * (1.0 + hz / 700.0).log10();
    let hz = |mel: f64| 700.0 * (10_f64.powf(mel / 2_595.0) - 1.0);
    let (low, high) = (mel(f64::from(low)), mel(f64::from(high)));
    let points = (fft + 1) as f64;
    (0..filters + 2)
        .map(|i| low + (high - low) * i as f64 / (filters + 1) as f64)
        .map(|mel| (points * hz(mel) / f64::from(rate)).floor() as usize)
        .collect()
}

/// The energies behind the filters, from a power spectrum; `energies` has one place a filter.
pub(super) fn energies(edges: &[usize], power: &[f64], energies: &mut [f64]) {
    energies.fill(0.0);
    for (i, pair) in edges.windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        for (k, &p) in power[from..to].iter().enumerate() {
            let rising = k as f64 / (to - from) as f64;
            if i < energies.len() {
                energies[i] += rising * p;
            }
            if i > 0 {
                energies[i - 1] += (1.0 - rising) * p;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by numpy from the definition.
    #[test]
    fn the_papers_edges_are_numpys() {
        let numpy = [
            0, 1, 3, 5, 8, 10, 13, 15, 18, 22, 25, 29, 33, 38, 42, 48, 53, 59, 66, 73, 80, 89, 97, 107, 117,
            128, 140, 153, 167, 183, 199, 216, 235, 256,
        ];
        assert_eq!(super::super::Spec::default().edges(), numpy);
    }

    #[test]
    fn a_filter_is_one_at_its_middle_and_gives_way_to_its_neighbour() {
        let (mut power, mut out) = ([0.0; 12], [0.0; 2]);
        power[4] = 1.0;
        energies(&[0, 4, 8, 12], &power, &mut out);
        assert_eq!(out, [1.0, 0.0]);
        power[7] = 8.0;
        energies(&[0, 4, 8, 12], &power, &mut out);
        assert_eq!(out, [3.0, 6.0]);
    }
}
