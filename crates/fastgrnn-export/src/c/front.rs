//! The audio front end in C (`docs/integer-features.md`): its tables, functions and interface.
//!
//! `parts/front.c` computes features, with sizes as macros; `parts/push.c` collects samples and runs
//! the network's steps. The code for an AVR contains none of it.

use super::helpers::{Helper, Helpers};
use super::text::joined;
use crate::fill::fill;
use fastgrnn::features::{Kind, Spec, Tables};
use fastgrnn_runtime::audio;
use serde::Serialize;
use std::fmt::{Display, Write};

/// What is known about the audio front end of generated code. Its bytes come on top of the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrontEndInfo {
    /// Samples per second.
    pub rate: u32,
    /// Samples from one frame to the next.
    pub hop: usize,
    /// Bytes of tables in flash; code comes on top.
    pub table_bytes: usize,
    /// Bytes of buffers in RAM, which the struct of a stream holds besides the network's state.
    pub ram_bytes: usize,
}

/// The front end in C.
pub(super) struct FrontCode {
    /// Types and declarations.
    pub(super) header: String,
    /// Tables and functions that come before those of the network.
    pub(super) functions: String,
    /// Functions that come after those of the network.
    pub(super) push: String,
    /// Its rate and size.
    pub(super) info: FrontEndInfo,
}

/// Writes the front end `spec` for the network `name`, with a detector of `keywords` classes or none.
pub(super) fn code(name: &str, spec: &Spec, keywords: Option<usize>, helpers: &Helpers) -> FrontCode {
    let tables = Tables::new(spec);
    let view = tables.view();
    let points = spec.fft() / 2;
    let first = if points.trailing_zeros().is_multiple_of(2) { 1 } else { 2 };
    let (base, odd) = (spec.window() / 4 * 2, spec.window() % 4);
    let mut text = TableText::default();

    let (place, load, size) = if points <= 256 { ("uint8_t", "ldrb", 1) } else { ("uint16_t", "ldrh", 2) };
    let windows: Vec<String> = view.window.iter().zip(view.before).map(|(w, b)| pair(*w, *b)).collect();
    text.table("fg_window", "front_window", 4, &windows);
    let places: Vec<usize> = (0..points).map(|i| audio::input_position(i, points)).collect();
    text.table(place, "front_places", size, &places);
    let turns: Vec<String> =
        turns(points, first).map(|k| pair(view.turns[2 * k], view.turns[2 * k + 1])).collect();
    text.table("fg_turn", "front_turns", 4, &turns);
    text.table("uint16_t", "front_edges", 2, view.edges);
    text.table("int32_t", "front_offsets", 4, view.offsets);
    text.table("uint16_t", "front_logs", 2, &audio::LOG_TABLE);
    // The helpers that `parts/front.c` and, for MFCC, `parts/push.c` call.
    helpers.require(Helper::RoundShift);
    if spec.kind() == Kind::Mfcc {
        helpers.require(Helper::Saturate);
        text.table("int16_t", "front_cosines", 2, view.cosines);
    }
    let macros = [
        ("LEN", spec.window().to_string()),
        ("HOP", spec.hop().to_string()),
        ("FFT", spec.fft().to_string()),
        ("POINTS", points.to_string()),
        ("FIRST", first.to_string()),
        ("MIDDLE", (if odd == 0 { base } else { base + odd - 2 }).to_string()),
        ("PLACE", place.to_owned()),
        ("FRACTION", view.fraction.to_string()),
        // For assembly: the same number, and how a position is read.
        ("BITS", format!("\"{}\"", view.fraction)),
        ("THUMB_PLACE", format!("\"{load} %[t], [%[place]]\\n\\tadds %[place], #{size}\"")),
        ("FILTERS", spec.filters().to_string()),
        ("FLOOR", format!("({})", view.floor)),
    ];
    let macros = macros.map(|(name, value)| format!("#define FRONT_{name} {value}\n"));
    let cuts =
        [0_u32, 4, 8, 12, 16].map(|cut| format!("#define FRONT_CUT_{cut} {}\n", stored(cut, view.drop)));
    // Sums, counters, the last detection, and padding.
    let detector = keywords.map_or(0, |n| 4 * n + 16);
    let filled =
        |template: &str| filled(template, name, spec, view.cosine_bits, text.bytes, keywords.is_some());
    FrontCode {
        header: filled(include_str!("parts/push.h")),
        functions: format!(
            "#if !defined(__AVR__)\n{}{}{TYPES}{}\n{}#endif\n\n",
            joined(macros, ""),
            joined(cuts, ""),
            text.tables,
            filled(include_str!("parts/front.c"))
        ),
        push: format!("\n#if !defined(__AVR__)\n{}#endif\n", filled(include_str!("parts/push.c"))),
        info: FrontEndInfo {
            rate: spec.rate(),
            hop: spec.hop(),
            table_bytes: text.bytes,
            // Everything in the struct but the network's state.
            ram_bytes: 4 * view.spectrum_len() + 2 * (view.samples_len() + view.row_len()) + 4 + detector,
        },
    }
}

const TYPES: &str = "
/* The assembly needs all eight low registers, one of which clang reserves. */
#if defined(FG_THUMB_ASM) && !defined(__clang__)
#define FRONT_ASM
#endif

#if defined(__GNUC__)
#define FG_PAIR __attribute__((aligned(4)))
#else
#define FG_PAIR
#endif

/* A twiddle factor: cosine and negative sine. */
typedef struct {
    int16_t c, s;
} FG_PAIR fg_turn;

/* The factors of a sample and of the one before it. */
typedef struct {
    int16_t now, before;
} FG_PAIR fg_window;

";

/// The text of tables in C, and their bytes.
#[derive(Default)]
struct TableText {
    tables: String,
    bytes: usize,
}

impl TableText {
    fn table<T: Display>(&mut self, kind: &str, name: &str, size: usize, values: &[T]) {
        self.bytes += size * values.len();
        let _ = write!(self.tables, "static const {kind} {name}[{}] = {{", values.len());
        for (i, value) in values.iter().enumerate() {
            let _ = write!(self.tables, "{}{value},", if i % 12 == 0 { "\n    " } else { " " });
        }
        self.tables.push_str("\n};\n");
    }
}

fn pair(a: i16, b: i16) -> String {
    format!("{{{a}, {b}}}")
}

/// Indices of the twiddle factors in the order of their use: those of the transform's stages, then
/// those of the spectrum, from the highest frequency down.
fn turns(points: usize, first: usize) -> impl Iterator<Item = usize> {
    let stages = std::iter::successors(Some(first), |q| Some(4 * q)).take_while(move |&q| q < points);
    let of_stage =
        move |q: usize| (1..4).flat_map(move |leg| (1..q).map(move |k| leg * k * (points / q) / 2));
    stages.flat_map(of_stage).chain((1..points / 2).rev())
}

/// The statement that stores a power whose real and imaginary parts were shifted right by `cut` bits.
fn stored(cut: u32, drop: u8) -> String {
    match 2 * cut as i32 - i32::from(drop) {
        shift @ ..0 => format!("power[0] = p >> {}, power[1] = 0", -shift),
        0 => "power[0] = p, power[1] = 0".into(),
        shift @ 1..32 => format!("power[0] = p << {shift}, power[1] = p >> {}", 32 - shift),
        _ => "power[0] = 0, power[1] = p".into(),
    }
}

fn filled(
    template: &str,
    name: &str,
    spec: &Spec,
    cosine_bits: u8,
    table_bytes: usize,
    detects: bool,
) -> String {
    let mfcc = spec.kind() == Kind::Mfcc;
    let cosines = format!(
        "    for (k = 0; k < {}; k++) {{
        const int16_t *const c = front_cosines + k * FRONT_FILTERS;
        int32_t sum = 0;
        uint16_t j;
        for (j = 0; j < FRONT_FILTERS; j++) {{
            sum += (int32_t)c[j] * audio->logs[j];
        }}
        audio->row[k] = saturate(round_shift(sum, {cosine_bits}));
    }}
",
        spec.dim()
    );
    let member = format!("    int16_t logs[{}]; /* the row is their cosine transform */\n", spec.filters());
    let (logs, member, cosines) =
        if mfcc { ("logs", member, cosines) } else { ("row", String::new(), String::new()) };
    let number = |n: usize| n.to_string();
    // These values contain the name itself, because `fill` does not search values for keys.
    let (step, heard, start, use_of) = match detects {
        true => (
            format!(
                "audio->heard = {name}_listen(&audio->state, &audio->detector, audio->row, &audio->confidence);"
            ),
            format!(
                "    {name}_detector detector;
    int32_t heard; /* the class that was detected in the last frame, or -1 */
    uint16_t confidence; /* its smoothed posterior, 32768 for certainty */
"
            ),
            format!(
                "    {name}_detector_init(&audio->detector);\n    audio->heard = -1;\n    audio->confidence = 0;\n"
            ),
            "audio.heard is the class that was detected, or -1".to_owned(),
        ),
        false => (
            format!("{name}_step(&audio->state, audio->row);"),
            String::new(),
            String::new(),
            format!("k = {name}_classify(&audio.state, scores, &confidence);"),
        ),
    };
    fill(
        template,
        &[
            ("name", name),
            ("NAME", &name.to_ascii_uppercase()),
            ("rate", &spec.rate().to_string()),
            ("hop", &number(spec.hop())),
            ("fft", &number(spec.fft())),
            ("samples", &number(spec.window() + 1)),
            ("features", &number(spec.dim())),
            ("tables", &number(table_bytes)),
            ("cosines", &cosines),
            ("logs", logs),
            ("member", &member),
            ("step", &step),
            ("heard", &heard),
            ("start", &start),
            ("use", &use_of),
        ],
    )
}
