//! Images whose parts have the lengths that their header asks for, so that nearly all are accepted
//! or fail in a late check: sizes, codes, shifts and entries are the fuzzer's choice.

use crate::{LAYERS, Source, seal};
use fastgrnn_runtime::int::TABLE_LEN;

const FAST_GRNN: usize = 3;
const LSTM: usize = 6;
const MIN_GRU: usize = 7;
const FAST_GRNN_GAIN: usize = 8;
const FIRST_GATED: usize = FAST_GRNN;
/// Blocks of rows, and bias vectors, of each cell by its code.
const BLOCKS: [usize; 9] = [1, 1, 1, 1, 2, 3, 4, 2, 1];
const BIASES: [usize; 9] = [1, 1, 1, 2, 2, 4, 4, 2, 2];

/// The form of a matrix that is absent.
const ABSENT: u8 = 5;

/// A sealed image made of `source`'s choices.
pub fn image(source: &mut Source<'_>) -> Vec<u8> {
    let mut out = vec![0; 10];
    let extended = source.below(2) == 1;
    let layers = 1 + source.below(LAYERS);
    out[3] = layers as u8;
    let meaning = source.below(4);
    let (inputs, outputs) = (size(source, 6), if meaning == 1 { 1 } else { size(source, 5) });
    words(&mut out, [inputs, outputs]);
    out.push(meaning as u8);
    let frames = if extended { 1 + source.below(4) } else { 1 };
    if extended {
        out.extend([0, frames as u8, 1 + source.below(frames) as u8]);
    }
    out.extend([source.below(31) as u8, source.below(15) as u8]);
    words(&mut out, (0..inputs).map(|_| source.below(1 << 16)));
    words(&mut out, (0..inputs).map(|_| source.below(1 << 14)));
    let (mut width, mut table) = (frames * inputs, false);
    for _ in 0..layers {
        let (hidden, smooth) = layer(&mut out, source, width, extended);
        width = hidden;
        table |= smooth;
    }
    let four_bits = extended && source.below(2) == 1;
    matrix(&mut out, source, outputs, width, four_bits);
    let mut byte_biases = false;
    if extended {
        words(&mut out, [multiplier(source, four_bits)]);
        byte_biases = source.below(2) == 1;
        out.push(2 - u8::from(byte_biases));
    }
    out.extend([source.below(15) as u8, (source.below(43) as i8 - 8) as u8]);
    biases(&mut out, source, outputs, byte_biases);
    if table {
        let mut entry = 0;
        words(
            &mut out,
            (0..TABLE_LEN).map(|_| {
                entry = (entry + source.below(1 << 10)).min(1 << 15);
                entry
            }),
        );
    }
    out[2] = if extended { 3 } else { 1 };
    seal(&mut out);
    out
}

/// Writes a layer; returns its units and whether it needs the table.
fn layer(out: &mut Vec<u8>, source: &mut Source<'_>, inputs: usize, extended: bool) -> (usize, bool) {
    let kind = source.below(BLOCKS.len());
    let gate = if kind >= FIRST_GATED { source.below(6) } else { 255 };
    let (update, starts) = (source.below(6), source.below(2));
    out.extend([kind as u8, gate as u8, update as u8, starts as u8]);
    let hidden = size(source, 8);
    let has_u = kind != MIN_GRU;
    let ranks = [source.below(4), if has_u { source.below(4) } else { 0 }];
    words(out, [hidden, ranks[0], ranks[1]]);
    out.push(4 + source.below(11) as u8);
    out.push(source.below(15) as u8);
    out.push(if kind == LSTM { source.below(15) as u8 } else { 0 });
    out.push(source.below(15) as u8);
    for (rank, is_there) in ranks.into_iter().zip([true, has_u]) {
        out.push(if rank == 0 { 0 } else { source.below(31) as u8 });
        out.push(if is_there { source.below(31) as u8 } else { 0 });
    }
    let (mut four_bits, mut byte_biases) = ([false; 2], false);
    if extended {
        four_bits = [source.below(2) == 1, has_u && source.below(2) == 1];
        words(out, four_bits.map(|four_bits| multiplier(source, four_bits)));
        byte_biases = source.below(2) == 1;
        out.push(2 - u8::from(byte_biases));
    }
    let rows = BLOCKS[kind] * hidden;
    let of_u = four_bits[1];
    for (cols, rank, is_there, four_bits) in
        [(inputs, ranks[0], true, four_bits[0]), (hidden, ranks[1], has_u, of_u)]
    {
        if !is_there {
            out.push(ABSENT);
            continue;
        }
        matrix(out, source, rows, if rank == 0 { cols } else { rank }, four_bits);
        if rank != 0 {
            matrix(out, source, cols, rank, four_bits);
        }
    }
    biases(out, source, BIASES[kind] * hidden, byte_biases);
    if kind == FAST_GRNN_GAIN {
        out.extend((0..hidden).map(|_| source.byte()));
    }
    let scalars: &[(usize, usize)] = match kind {
        1 => &[(1, 1 << 15), (1, 1 << 15)],
        2 => &[(hidden, 1 << 15), (1, 1 << 14), (1, 1 << 14)],
        FAST_GRNN | FAST_GRNN_GAIN => &[(1, 1 << 14), (1, 1 << 14)],
        _ => &[],
    };
    for &(count, most) in scalars {
        words(out, (0..count).map(|_| source.below(1 << 16) % (most + 1)));
    }
    if starts == 1 {
        let len = if kind == LSTM { 2 * hidden } else { hidden };
        words(out, (0..len).map(|_| source.below(1 << 16)));
    }
    (hidden, gate < 2 || update < 2)
}

/// 1 to `most`; now and then a size near the limits of indices and of accumulators.
fn size(source: &mut Source<'_>, most: usize) -> usize {
    match source.below(64) {
        63 => [254, 255, 256, 257, 300, 480, 511, 512][source.below(8)],
        _ => 1 + source.below(most),
    }
}

fn words(out: &mut Vec<u8>, values: impl IntoIterator<Item = usize>) {
    values.into_iter().for_each(|value| out.extend((value as u16).to_le_bytes()));
}

/// A multiplier; 0 for a matrix without entries of 4 bits, and now and then for one with them.
fn multiplier(source: &mut Source<'_>, four_bits: bool) -> usize {
    match source.below(8) {
        0 => 0,
        _ if !four_bits => 0,
        _ => (1 << 14) + source.below(1 << 14),
    }
}

fn biases(out: &mut Vec<u8>, source: &mut Source<'_>, count: usize, bytes: bool) {
    if bytes {
        out.extend((0..count).map(|_| source.byte()));
    } else {
        words(out, (0..count).map(|_| source.below(1 << 16)));
    }
}

/// Writes a matrix of entries of 4 bits, or in one of the first four forms.
fn matrix(out: &mut Vec<u8>, source: &mut Source<'_>, rows: usize, cols: usize, four_bits: bool) {
    if four_bits {
        out.push(6);
        let pairs = (0..rows / 2 * cols).map(|_| source.byte());
        out.extend(pairs);
        out.extend((0..rows % 2 * cols).map(|_| source.byte() & 0x0F));
        return;
    }
    let (form, fill) = (source.below(4), source.below(4));
    // All stored, all but a few, half or a few: a list holds at most 255.
    let kept = [255, 240, 128, 20][source.below(4)];
    let mut entry = || {
        let present = usize::from(source.byte()) <= kept;
        let value = match fill {
            0 => 0x80,
            1 => 0x7F,
            _ => source.byte(),
        };
        present.then_some(value)
    };
    let by_columns = form == 2;
    let (lines, length) = if by_columns { (cols, rows) } else { (rows, cols) };
    let lines: Vec<Vec<Option<u8>>> = (0..lines).map(|_| (0..length).map(|_| entry()).collect()).collect();
    out.push(form as u8);
    let entries = lines.iter().flatten();
    match form {
        0 => out.extend(entries.map(|e| e.unwrap_or(0))),
        3 => {
            let mut bitmap = vec![0; (rows * cols).div_ceil(8)];
            entries.clone().enumerate().for_each(|(i, e)| bitmap[i / 8] |= u8::from(e.is_some()) << (i % 8));
            out.extend(bitmap);
            out.extend(entries.flatten());
        }
        _ => {
            // 256 entries do not fit the count; the image is then refused, which is right too.
            out.extend(lines.iter().map(|line| line.iter().flatten().count() as u8));
            let places = lines.iter().flat_map(|line| line.iter().enumerate());
            out.extend(places.filter(|(_, e)| e.is_some()).map(|(i, _)| i as u8));
            out.extend(entries.flatten());
        }
    }
}
