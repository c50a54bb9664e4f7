//! The front end in generated C against the runtime's: random sound in pieces of any size, every bit
//! of every frame, of the network's state and of the scores.

use crate::compilers::skipped;
use crate::driver;
use crate::networks;
use fastgrnn::features::{IntegerFront, Spec};
use fastgrnn::quantize::{HostModel, IntegerNetwork};
use fastgrnn_export::{COptions, CSource, ExportError, c_source};
use fastgrnn_testing::oracle::random::{Manner, network};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Every shape of the transform, windows of every remainder, MFCC.
const SPECS: [&str; 8] = [
    "log-mel",
    "mfcc,coefficients=10",
    "log-mel,window=16ms,hop=16ms,filters=20",
    "log-mel,rate=8000,window=201,hop=67,filters=12,high=3500",
    "log-mel,rate=48000,window=1026,hop=480,filters=40,low=20,floor=-20",
    "mfcc,filters=40,low=100,window=64ms",
    "log-mel,window=35,hop=1,filters=3,pre-emphasis=1",
    "log-mel,window=32,hop=31,filters=1,pre-emphasis=0,floor=5",
];

/// A network of the width that the spec makes.
fn random_network(spec: &Spec, runner: &mut TestRunner) -> IntegerNetwork {
    let drawn = network(vec![3], vec![spec.dim(), 5], Manner::Tame).new_tree(runner).unwrap().current();
    networks::integer_network(&drawn)
}

fn source(network: &IntegerNetwork, spec: &Spec) -> CSource {
    c_source(network, &COptions { front: Some(*spec), ..COptions::default() }).unwrap()
}

/// Numbers that look random (Marsaglia's xorshift).
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 >> 8
    }
}

/// Recordings in pieces.
fn recordings(spec: &Spec, rng: &mut Numbers) -> Vec<Vec<Vec<i16>>> {
    let mut sound = |loud: u32, n: usize| -> Vec<i16> {
        let sample = |r: u32| match loud {
            0 => [i16::MIN, i16::MAX][r as usize % 2],
            loud => (r as i16) >> (loud % 16),
        };
        (0..n).map(|_| sample(rng.next())).collect()
    };
    let window = spec.window();
    let whole =
        [sound(0, 3 * window + 7), sound(1, 2 * window), sound(12, 2 * window + 1), vec![0; window + 5]];
    let ends = [sound(2, 1), vec![i16::MIN; window - 1], sound(15, window + spec.hop() / 2 + 1), Vec::new()];
    let mut cut = |samples: &Vec<i16>| {
        let (mut pieces, mut rest) = (Vec::new(), &samples[..]);
        while !rest.is_empty() {
            let (now, later) = rest.split_at((rng.next() as usize % (2 * window)).min(rest.len()));
            pieces.push(now.to_vec());
            rest = later;
        }
        pieces
    };
    whole.iter().chain(&ends).map(&mut cut).collect()
}

/// What the runtime computes, in the driver's layout.
fn expected(network: &IntegerNetwork, spec: &Spec, recordings: &[Vec<Vec<i16>>]) -> Vec<u8> {
    let image = network.image();
    let model = HostModel::read(&image).unwrap();
    let mut out = Vec::new();
    for pieces in recordings {
        let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
        let mut state = model.start(&mut memory, &mut scratch).unwrap();
        let mut scores = vec![0; model.outputs()];
        let mut heard = |row: &[i16]| {
            model.step(&mut state, row).unwrap();
            model.scores(&state, &mut scores).unwrap();
            out.extend(row.iter().chain(state.layers()).flat_map(|v| v.to_le_bytes()));
            out.extend(scores.iter().flat_map(|v| v.to_le_bytes()));
            out.extend((model.decide(&scores).class as u16).to_le_bytes());
        };
        let mut front = IntegerFront::new(spec);
        pieces.iter().for_each(|piece| front.push(piece, &mut heard));
        front.finish(&mut heard);
    }
    out
}

fn write(folder: &Path, source: &CSource) {
    std::fs::write(folder.join("model.h"), &source.header).unwrap();
    std::fs::write(folder.join("model.c"), &source.source).unwrap();
}

/// What the C computes, compiled for the host with a sanitizer.
fn found(folder: &Path, source: &CSource, recordings: &[Vec<Vec<i16>>]) -> Vec<u8> {
    driver::compile(folder, source, include_str!("../drivers/front.c"), "undefined,address");
    let mut input = Vec::new();
    for pieces in recordings {
        for piece in pieces {
            input.extend((piece.len() as u16).to_le_bytes());
            input.extend(piece.iter().flat_map(|v| v.to_le_bytes()));
        }
        input.extend(u16::MAX.to_le_bytes());
    }
    driver::run(folder, input)
}

#[test]
fn sound_in_pieces_gives_the_runtimes_bits_for_every_shape() {
    let mut runner = TestRunner::deterministic();
    let mut rng = Numbers(1);
    let folder = tempfile::tempdir().unwrap();
    for text in SPECS {
        let spec: Spec = text.parse().unwrap();
        let network = random_network(&spec, &mut runner);
        let recordings = recordings(&spec, &mut rng);
        let expected = expected(&network, &spec, &recordings);
        let found = found(folder.path(), &source(&network, &spec), &recordings);
        assert!(found == expected, "{text}: {} bytes, {} expected", found.len(), expected.len());
    }
}

#[test]
fn a_cortex_m0_needs_no_routine_for_the_front_end() {
    let tools = ["arm-none-eabi-gcc", "arm-none-eabi-nm"];
    if tools.iter().any(|t| Command::new(t).arg("--version").output().is_err()) {
        return skipped(&format!("calls of the front end were NOT looked at: no {tools:?}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let called = |source: &CSource, flags: [&str; 2]| -> BTreeSet<String> {
        write(folder.path(), source);
        // Without -ffreestanding, as users compile: loops may become calls of memcpy.
        let args = "-mcpu=cortex-m0plus -mthumb -std=c99 -Wall -Wextra -Werror -c model.c";
        let status =
            Command::new(tools[0]).current_dir(&folder).args(args.split(' ')).args(flags).status().unwrap();
        assert!(status.success(), "{flags:?}");
        let output = Command::new(tools[1]).current_dir(&folder).args(["-u", "model.o"]).output().unwrap();
        let names = String::from_utf8(output.stdout).unwrap();
        names.split_whitespace().filter(|&name| name != "U").map(str::to_owned).collect()
    };
    let mut runner = TestRunner::deterministic();
    for text in SPECS {
        let spec: Spec = text.parse().unwrap();
        let network = random_network(&spec, &mut runner);
        let alone = c_source(&network, &COptions::default()).unwrap();
        for flags in [["-Os", "-DX"], ["-O2", "-DX"], ["-O3", "-DX"], ["-O2", "-DFG_NO_ASM"]] {
            // The network divides for its confidence; the front end adds nothing to that.
            assert_eq!(called(&source(&network, &spec), flags), called(&alone, flags), "{text} {flags:?}");
        }
    }
}

#[test]
fn it_compiles_without_a_warning_everywhere_and_an_avr_leaves_it_out() {
    let mut runner = TestRunner::deterministic();
    let folder = tempfile::tempdir().unwrap();
    let compilers = [
        ("gcc", "-std=c99 -x c"),
        ("g++", "-std=c++11 -x c++"),
        ("clang", "-std=c99 -x c"),
        ("clang", "-std=c99 --target=thumbv6m-none-eabi -mcpu=cortex-m0plus -ffreestanding -x c"),
        ("avr-gcc", "-std=c99 -mmcu=atmega328p -x c"),
        ("arm-none-eabi-gcc", "-std=c99 -mcpu=cortex-m3 -mthumb -x c"),
        ("arm-none-eabi-g++", "-std=c++11 -mcpu=cortex-m0plus -mthumb -x c++"),
        ("riscv64-unknown-elf-gcc", "-std=c99 -ffreestanding -march=rv32imac -mabi=ilp32 -x c"),
    ];
    for text in [SPECS[0], SPECS[3], SPECS[5]] {
        let spec: Spec = text.parse().unwrap();
        write(folder.path(), &source(&random_network(&spec, &mut runner), &spec));
        for (compiler, flags) in compilers {
            if Command::new(compiler).arg("--version").output().is_err() {
                skipped(&format!("the front end was NOT compiled by {compiler}"));
                continue;
            }
            let status = Command::new(compiler)
                .current_dir(&folder)
                .args(["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"])
                .args(flags.split(' '))
                .args(["-c", "model.c", "-o", "model.o"])
                .status()
                .unwrap();
            assert!(status.success(), "{compiler} {text}");
        }
    }
}

#[test]
fn a_front_end_of_another_width_is_refused() {
    let mut runner = TestRunner::deterministic();
    let network = random_network(&"log-mel,filters=20".parse().unwrap(), &mut runner);
    let refused = c_source(&network, &COptions { front: Some(Spec::default()), ..COptions::default() });
    assert!(matches!(refused, Err(ExportError::Front { found: 32, features: 20, .. })));
}
