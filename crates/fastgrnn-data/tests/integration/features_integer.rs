//! The integer front end computes, bit for bit, what `docs/integer-features.md` says, for samples
//! that arrive in pieces of any size, and stays within its widths whatever they are.

use fastgrnn_data::features::{COUNT, IntegerFront, Kind, Spec, Tables, extract, extract_counts};
use fastgrnn_runtime::audio::{Front, TablesError};
use proptest::prelude::*;

/// Specs that together have every shape: transform lengths that are and are not powers of four,
/// odd windows, hops as long as the window, few filters and many, MFCC.
const SPECS: [&str; 9] = [
    "log-mel",
    "mfcc,coefficients=10",
    "log-mel,window=16ms,hop=16ms,filters=20",
    "log-mel,rate=8000,window=201,hop=67,filters=12,high=3500",
    "log-mel,rate=48000,window=2048,hop=480,filters=40,low=20,floor=-20",
    "mfcc,filters=40,low=100,window=64ms",
    "log-mel,window=32,hop=1,filters=3,pre-emphasis=1",
    "log-mel,window=33,hop=32,filters=1,pre-emphasis=0,floor=5",
    "log-mel,rate=192000,window=2048,hop=2048,filters=1",
];

fn specs() -> impl Iterator<Item = Spec> {
    SPECS.into_iter().map(|text| text.parse().expect(text))
}

/// What no recording should be, and some are.
fn extremes(n: usize) -> Vec<(&'static str, Vec<i16>)> {
    let wave = |f: fn(usize) -> i16| (0..n).map(f).collect();
    vec![
        ("nothing but the least number", vec![i16::MIN; n]),
        ("nothing but the greatest", vec![i16::MAX; n]),
        ("every sample the other end", wave(|i| if i % 2 == 0 { i16::MIN } else { i16::MAX })),
        ("the other end again, shifted", wave(|i| if i % 2 == 0 { i16::MAX } else { i16::MIN })),
        ("a square wave", wave(|i| if i / 8 % 2 == 0 { i16::MAX } else { i16::MIN })),
        (
            "a square wave of a period that fits no window",
            wave(|i| if i * 3 / 31 % 2 == 0 { i16::MIN } else { i16::MAX }),
        ),
        ("one impulse", wave(|i| if i == 123 { i16::MIN } else { 0 })),
        ("silence", vec![0; n]),
        ("one count", wave(|i| (i % 2) as i16)),
        ("a step", wave(|i| if i > 300 { i16::MAX } else { i16::MIN })),
    ]
}

#[test]
fn extremes_equal_the_oracle_for_every_shape() {
    for spec in specs() {
        let tables = Tables::new(&spec);
        let n = 2 * spec.window() + spec.hop().min(200) + 1;
        for (what, samples) in extremes(n) {
            let expected = crate::features_oracle::rows(&tables.view(), &samples);
            assert_eq!(expected.len(), spec.frames(n) * spec.dim());
            assert!(extract_counts(&spec, &samples) == expected, "{spec}: {what}");
        }
    }
}

/// The signs that make one value of the transform as large as it can be.
#[test]
fn the_worst_signs_for_a_point_equal_the_oracle() {
    let spec = Spec::default();
    let tables = Tables::new(&spec);
    for point in [0, 1, 31, 64, 127, 128, 129, 200, 255, 256] {
        for phase in 0..4 {
            let turn = std::f64::consts::TAU * f64::from(point) / 512.0;
            let sign = |n: i32| (turn * f64::from(n) + f64::from(phase) * 0.7).cos() >= 0.0;
            let samples: Vec<i16> = (0..400).map(|n| if sign(n) { i16::MAX } else { i16::MIN }).collect();
            assert_eq!(
                extract_counts(&spec, &samples),
                crate::features_oracle::rows(&tables.view(), &samples),
                "{point}"
            );
        }
    }
}

/// Noise of any loudness, with bursts of the extremes.
fn sound(most: usize) -> impl Strategy<Value = Vec<i16>> {
    let sample = (any::<i16>(), 0_u32..4);
    (0_u32..16, prop::collection::vec(sample, 0..most)).prop_map(|(quiet, samples)| {
        let of = |(value, kind): (i16, u32)| match kind {
            0 if quiet == 0 => {
                if value < 0 {
                    i16::MIN
                } else {
                    i16::MAX
                }
            }
            _ => value >> quiet.min(15),
        };
        samples.into_iter().map(of).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sound_equals_the_oracle(samples in sound(900), which in 0..SPECS.len()) {
        let spec: Spec = SPECS[which].parse().unwrap();
        prop_assert_eq!(extract_counts(&spec, &samples), crate::features_oracle::rows(&Tables::new(&spec).view(), &samples));
    }

    #[test]
    fn pieces_of_any_size_give_the_same_bits(
        samples in sound(5_000), cuts in prop::collection::vec(0_usize..700, 0..40), which in 0..SPECS.len(),
    ) {
        let spec: Spec = SPECS[which].parse().unwrap();
        let whole = extract_counts(&spec, &samples);
        let (mut front, mut rows) = (IntegerFront::new(&spec), Vec::new());
        // Leftovers of another recording must not matter.
        front.push(&[i16::MIN; 777], &mut |_| {});
        front.reset();
        let mut rest = &samples[..];
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            front.push(now, &mut |row| rows.extend_from_slice(row));
            rest = later;
        }
        front.push(rest, &mut |row| rows.extend_from_slice(row));
        front.finish(&mut |row| rows.extend_from_slice(row));
        prop_assert_eq!(&rows, &whole);
    }

    #[test]
    fn it_is_near_the_float_front_end(samples in sound(2_000), which in 0..SPECS.len()) {
        let spec: Spec = SPECS[which].parse().unwrap();
        let (float, counts) = (extract(&spec, &samples), extract_counts(&spec, &samples));
        // Below these values, the rounding of the integers is larger than the sound; it grows with
        // the length of the transform. MFCC mix all filters.
        let least = match spec.kind() {
            Kind::LogMel if spec.window() >= 2048 => 3.0,
            Kind::LogMel => 1.0,
            Kind::Mfcc => f32::MIN,
        };
        let most = f32::from(i16::MAX) * COUNT;
        let near = |(f, &n): (&f32, &i16)| {
            (f.clamp(least, most) - (f32::from(n) * COUNT).max(least)).abs() < 0.25
        };
        prop_assert!(float.len() == counts.len() && float.iter().zip(&counts).all(near));
    }
}

#[test]
fn tables_that_could_overflow_are_refused() {
    let tables = Tables::new(&Spec::default());
    let good = tables.view();
    let refused = |tables| Front::new(tables).expect_err("they are bad");
    use fastgrnn_runtime::audio::Tables as View;
    assert_eq!(refused(View { fraction: 7, ..good }), TablesError::Overflow { what: "the transform" });
    assert_eq!(refused(View { drop: 5, ..good }), TablesError::Overflow { what: "the sum behind a filter" });
    assert_eq!(refused(View { hop: 0, ..good }), TablesError::Size { what: "the hop", value: 0 });
    assert_eq!(refused(View { fft: 500, ..good }), TablesError::Size { what: "the transform", value: 500 });
    let long = TablesError::Length { what: "the window", found: 100, needed: 200 };
    assert_eq!(refused(View { window: &good.window[..100], ..good }), long);
    assert_eq!(refused(View { edges: &[9; 34], ..good }), TablesError::Edges);
    assert_eq!(refused(View { turns: &[i16::MIN; 768], ..good }), TablesError::Overflow { what: "a turn" });
    assert_eq!(refused(View { offsets: &[-1; 32], ..good }), TablesError::Overflow { what: "an offset" });
    let loud = TablesError::Overflow { what: "a coefficient" };
    assert_eq!(refused(View { cosines: &[32_767; 320], ..good }), loud);
}
