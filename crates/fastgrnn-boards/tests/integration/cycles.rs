//! The cycle models against cycles computed by hand from the cores' manuals: snippets in assembly in
//! the place of a model's step.

use crate::tiny;
use crate::tools::runs;
use fastgrnn::device::Board;
use fastgrnn_boards::{BoardReport, MeasureOptions, Outcome, measure};

/// What one step takes that consists of `body` and a return; `None` without the tools.
fn step(board: Board, body: &str, wait_states: Option<u32>) -> Option<BoardReport> {
    if !runs(board) {
        return None;
    }
    let (syntax, end) = match board {
        Board::Uno => ("", "ret"),
        Board::Riscv32 => ("", "ret"),
        _ => (".syntax unified\n.thumb_func\n", "bx lr"),
    };
    let text = format!(
        ".section .text.model_step, \"ax\"\n.balign 64\n.global model_step\n{syntax}model_step:\n{body}\n{end}\n.balign 4\n"
    );
    let lines: String = text.lines().map(|l| format!("\"{}\\n\"\n", l.replace('"', "\\\""))).collect();
    let source = tiny::model(&format!("__asm__(\n{lines});"), 0);
    let expected = [Outcome { scores: vec![0], class: 0, confidence: 1, states: None }];
    let options = MeasureOptions { wait_states, ..MeasureOptions::default() };
    let report = measure(board, &source, &[vec![5]], &expected, &options).unwrap();
    assert_eq!((report.mismatches, report.steps), (0, 1));
    Some(report)
}

/// Checks the cycles of bodies without wait states, the call and the return apart.
fn check(board: Board, call_and_return: f64, cases: &[(&str, f64)]) {
    for (body, cycles) in cases {
        let Some(report) = step(board, body, None) else { return };
        let found = report.cycles_per_step_zero_wait.unwrap() - call_and_return;
        assert_eq!(found, *cycles, "{} cycles of:\n{body}", board.id());
    }
}

#[test]
fn instructions_of_the_cortex_m0plus_take_what_its_manual_says() {
    // BL 3, BX 2
    let cases = [
        ("", 0.0),
        ("movs r2, #1\nadds r2, r2, #1\nmuls r2, r2, r2\nlsls r2, r2, #3", 4.0),
        ("sub sp, #8\nstr r2, [sp]\nldr r2, [sp]\nldrb r3, [r0]\nstrh r3, [r0]\nadd sp, #8", 10.0),
        ("push {r4, r5, r6}\npop {r4, r5, r6}", 8.0),
        // The inner call is BL 3 and BX 2, the return is POP 3 + 2 in the place of the BX.
        ("push {r4, lr}\nbl 1f\npop {r4, pc}\n1:", 3.0 + 3.0 + 2.0 + 5.0 - 2.0),
        ("movs r2, #5\n1: subs r2, #1\nbne 1b", 1.0 + 5.0 + 4.0 * 2.0 + 1.0),
        ("ldr r2, 1f\nb 2f\n.balign 4\n1: .word 5\n2:", 2.0 + 2.0),
        ("mov r2, sp\nsubs r2, #16\nstmia r2!, {r0, r1, r3}\nldmia r2!, {r3}", 2.0 + 4.0 + 2.0),
        ("mrs r2, primask\ndsb", 6.0),
        ("adr r2, 1f\nmov pc, r2\n.balign 4\n1:", 1.0 + 2.0),
    ];
    check(Board::M0plus, 5.0, &cases);
}

/// Registers that point to the stack, and an index; 6 cycles, and 1 for `AFTER`.
const BEFORE: &str = "sub sp, #32\nmov r1, sp\nmov r2, sp\nmov r3, sp\nmov.w r12, #0\nnop\n";
const AFTER: &str = "\nadd sp, #32";

fn with_stack(cases: &[(&str, f64)]) -> Vec<(String, f64)> {
    cases.iter().map(|(body, cycles)| (format!("{BEFORE}{body}{AFTER}"), cycles + 7.0)).collect()
}

#[test]
fn neighbouring_loads_of_the_cortex_m3_overlap_as_in_its_manuals_examples() {
    let cases = with_stack(&[
        ("ldr r0, [r1]\nldr r1, [r2]", 3.0),
        ("ldr r0, [r1, r12]\nstr r0, [r3, #20]", 3.0),
        ("ldr r0, [r1, r12]\nstr r1, [r3, r12]", 3.0),
        ("ldr r0, [r1, r12]\nldr r1, [r2]\nldr r2, [r3, #4]", 4.0),
        // An address that was just loaded, and one that was just computed.
        ("str r1, [r1]\nnop\nldr r0, [r1]\nldr r0, [r0]", 1.0 + 1.0 + 2.0 + 2.0),
        ("adds r1, #0\nldr r0, [r1]", 1.0 + 2.0 + 1.0),
        ("ldr r0, [r1], #4\nldr r0, [r1]", 2.0 + 2.0),
        ("ldrd r0, r1, [r2]\nstrd r0, r1, [r2]", 3.0 + 3.0),
        ("ldr r0, [r1, #1]\nnop\nldrh r0, [r1, #1]", 4.0 + 1.0 + 3.0),
    ]);
    let cases: Vec<(&str, f64)> = cases.iter().map(|(body, cycles)| (body.as_str(), *cycles)).collect();
    // BL 1 + 2, BX 1 + 3
    check(Board::M3, 7.0, &cases);
}

const MULTIPLICATIONS: &str = "mul r2, r2, r2\nmla r2, r2, r2, r2\nsmull r2, r3, r2, r2\nudiv r2, r2, r2";

#[test]
fn other_instructions_of_the_cortex_m3_take_what_its_manual_says() {
    let cases = [
        ("", 0.0),
        (MULTIPLICATIONS, 1.0 + 2.0 + 5.0 + 12.0),
        ("movs r2, #5\n1: subs r2, #1\nbne 1b", 1.0 + 5.0 + 4.0 * 3.0 + 1.0),
        ("movs r2, #0\ncbz r2, 1f\nnop\n1:", 1.0 + 3.0),
        ("movs r2, #1\ncbz r2, 1f\nnop\n1:", 1.0 + 1.0 + 1.0),
        // A target of 32 bits in the upper half of a word.
        ("b 1f\n.balign 4\nnop\n1: movw r2, #1000", 3.0 + 1.0 + 1.0),
        ("cmp r0, r0\nit ne\nldrne r2, [r0]", 3.0),
        ("cmp r0, r0\nit eq\nldreq r2, [r0]", 4.0),
        ("push {r4, r5, lr}\npop {r4, r5, pc}", 4.0 + 4.0 + 3.0 - 4.0),
    ];
    check(Board::M3, 7.0, &cases);
}

#[test]
fn the_cortex_m4_multiplies_in_one_cycle() {
    check(Board::M4, 7.0, &[(MULTIPLICATIONS, 1.0 + 1.0 + 1.0 + 12.0), ("smlabb r2, r2, r2, r2", 1.0)]);
}

#[test]
fn results_of_the_riscv_core_are_waited_for() {
    let Some(nothing) = step(Board::Riscv32, "", None) else { return };
    let cases = [
        ("mul a2, a2, a2\nadd a3, a2, a2", 5.0 + 1.0),
        ("mul a2, a2, a2\naddi a3, a3, 1\naddi a3, a3, 1", 3.0),
        ("lw a2, 0(sp)\naddi a2, a2, 1", 2.0 + 1.0),
        ("lh a2, 0(sp)\naddi a2, a2, 1", 3.0 + 1.0),
        // The counter learns in two passes that the branch is taken, and errs once more at the end.
        ("li a2, 5\n1: addi a2, a2, -1\nbnez a2, 1b", 1.0 + 10.0 + 3.0 * 3.0),
    ];
    check(Board::Riscv32, nothing.cycles_per_step.unwrap(), &cases);
}

#[test]
fn the_atmega_takes_what_its_manual_says() {
    // CALL 4, RET 4
    let body = "push r2\nin r0, 0x3f\nmul r2, r2\nlds r0, 0x100\nlpm r0, Z\npop r2\nclr r1";
    check(Board::Uno, 8.0, &[("", 0.0), (body, 2.0 + 1.0 + 2.0 + 2.0 + 3.0 + 2.0 + 1.0)]);
}

/// What `longer` takes more than `body`: without wait states, with the board's flash, uncached.
fn more(board: Board, body: &str, longer: &str, wait: u32) -> Option<[f64; 3]> {
    let (a, b) = (step(board, body, Some(wait))?, step(board, longer, Some(wait))?);
    let cycles = |r: &BoardReport| {
        [r.cycles_per_step_zero_wait, r.cycles_per_step, r.cycles_per_step_uncached].map(Option::unwrap)
    };
    let (a, b) = (cycles(&a), cycles(&b));
    Some([b[0] - a[0], b[1] - a[1], b[2] - a[2]])
}

fn repeat(what: &str, times: usize) -> String {
    format!("{what}\n").repeat(times)
}

#[test]
fn straight_code_of_the_sam_d21_waits_once_a_line_of_8_bytes() {
    let (short, long) = (repeat("nop", 4), repeat("nop", 68));
    let Some(found) = more(Board::M0plus, &short, &long, 1) else { return };
    assert_eq!(found, [64.0, 64.0 + 16.0, 64.0 + 32.0]);
    assert_eq!(more(Board::M0plus, &short, &long, 3).unwrap(), [64.0, 64.0 + 48.0, 64.0 + 96.0]);
}

#[test]
fn a_loop_in_the_cache_of_the_sam_d21_waits_for_its_first_pass_only() {
    let pass = |n: usize| format!("movs r2, #{n}\n1: subs r2, #1\nbne 1b");
    let Some(found) = more(Board::M0plus, &pass(10), &pass(110), 1) else { return };
    // Without a cache a pass fetches the word of the loop and the one behind it.
    assert_eq!(found[..2], [300.0, 300.0]);
    assert!(found[2] >= 400.0, "{found:?}");
}

#[test]
fn constants_of_the_sam_d21_come_through_the_same_cache() {
    let read = |list: &str| {
        format!(
            "push {{r4, r5, r6, r7}}\nldr r2, 1f\nldmia r2!, {{{list}}}\npop {{r4, r5, r6, r7}}\nbx lr\n\
             .balign 64\n1: .word 2f\n.balign 64\n2: .word 1, 2, 3, 4\n.balign 4"
        )
    };
    let Some(found) = more(Board::M0plus, &read("r4"), &read("r4, r5, r6, r7"), 1) else { return };
    assert_eq!(found, [3.0, 3.0 + 1.0, 3.0 + 3.0]);
}

#[test]
fn the_sam3x_reads_ahead_of_straight_code() {
    let (short, long) = (repeat("nop", 8), repeat("nop", 72));
    let Some(found) = more(Board::M3, &short, &long, 4) else { return };
    // 8 instructions last longer than the 5 cycles of reading the next 16 bytes, 4 do not.
    assert_eq!(found, [64.0, 64.0, 64.0 + 32.0 * 4.0]);
    let (short, long) = (repeat("nop.w", 4), repeat("nop.w", 68));
    assert_eq!(more(Board::M3, &short, &long, 4).unwrap(), [64.0, 64.0 + 16.0, 64.0 + 64.0 * 4.0]);
    // The data sheet: up to 3 wait states sequential fetches of a word take one cycle each.
    assert_eq!(more(Board::M3, &short, &long, 3).unwrap(), [64.0, 64.0, 64.0 + 64.0 * 3.0]);
}

#[test]
fn the_nrf52840_waits_once_a_line_of_16_bytes() {
    let (short, long) = (repeat("nop", 8), repeat("nop", 72));
    let Some(found) = more(Board::M4, &short, &long, 3) else { return };
    assert_eq!(found, [64.0, 64.0 + 8.0 * 3.0, 64.0 + 32.0 * 3.0]);
}
