//! One length for all clips.

/// `samples` with zeros in front of them, or the loudest part of them, so that there are `length`.
///
/// The loudest part is the first one with the most energy: in a recording that is longer than a
/// clip, the word is where it is loud.
pub(super) fn to_length(mut samples: Vec<i16>, length: usize) -> Vec<i16> {
    if samples.len() <= length {
        samples.splice(..0, std::iter::repeat_n(0, length - samples.len()));
        return samples;
    }
    let energy = |sample: i16| i64::from(sample) * i64::from(sample);
    let (mut sum, mut most, mut start) = (samples[..length].iter().map(|&s| energy(s)).sum::<i64>(), 0, 0);
    for at in 0..=samples.len() - length {
        if sum > most {
            (most, start) = (sum, at);
        }
        if let Some(&next) = samples.get(at + length) {
            sum += energy(next) - energy(samples[at]);
        }
    }
    samples.drain(..start);
    samples.truncate(length);
    samples
}

#[cfg(test)]
mod tests {
    use super::to_length;

    #[test]
    fn short_clips_get_zeros_in_front() {
        assert_eq!(to_length(vec![5, 6], 4), [0, 0, 5, 6]);
        assert_eq!(to_length(vec![5, 6], 2), [5, 6]);
        assert_eq!(to_length(Vec::new(), 2), [0, 0]);
    }

    #[test]
    fn of_long_ones_the_first_loudest_part_is_kept() {
        assert_eq!(to_length(vec![1, 9, -9, 2, 0], 2), [9, -9]);
        assert_eq!(to_length(vec![0, 0, 0, 7], 2), [0, 7]);
        assert_eq!(to_length(vec![3, 0, 3], 1), [3]);
        assert_eq!(to_length(vec![0; 9], 3), [0, 0, 0]);
        assert_eq!(to_length(vec![i16::MIN; 70_000], 69_999).len(), 69_999);
    }
}
