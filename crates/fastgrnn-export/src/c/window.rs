//! The window over the last frames, in C (section 1 of `docs/integer-arithmetic.md`).

use fastgrnn::quantize::IntegerNetwork;
use fastgrnn::window::Window;

/// The frames that a network keeps, which are a part of its state.
pub(super) struct WindowCode {
    /// Members of the state struct.
    pub(super) members: String,
    /// Frames from one step to the next.
    pub(super) stride: usize,
    /// Bytes of the members.
    pub(super) bytes: usize,
    /// Statements that forget all frames; `k` counts to 65535.
    pub(super) reset: String,
    /// Statements of `step` before the layers: they store the frame, and return if the step is yet to come.
    pub(super) before: String,
    /// Statements after the layers, which make room for the next frames.
    pub(super) after: String,
    /// What the header says about the value of `step`.
    pub(super) comment: String,
}

impl WindowCode {
    /// `None` for a network that takes a step for each frame and reads that frame alone.
    pub(super) fn new(network: &IntegerNetwork) -> Option<Self> {
        let Window { frames, stride } = network.window;
        if network.window.is_frame() {
            return None;
        }
        let features = network.input.factors.len();
        let (all, left) = (frames * features, (frames - stride) * features);
        let moves = format!(
            "    for (k = 0; k < {left}u; k++) {{
        state->window[k] = state->window[k + {}u];
        FG_FENCE(); /* no call of memmove */
    }}
",
            stride * features
        );
        let (counter, moves) = if left == 0 { ("", String::new()) } else { ("    uint16_t k;\n", moves) };
        Some(Self {
            members: format!(
                "    int16_t window[{all}]; /* the last frames, the oldest first */\n    uint16_t since; /* frames since the last step */\n"
            ),
            stride,
            bytes: 2 * all + 2,
            reset: format!(
                "    for (k = 0; k < {all}u; k++) {{
        state->window[k] = 0;
        FG_FENCE(); /* no call of memset */
    }}
    state->since = 0;
"
            ),
            before: format!(
                "{counter}    normalise(counts, state->window + {left}u + (uint16_t)(state->since * {features}u));
    state->since++;
    if (state->since < {stride}u) {{
        return 0;
    }}
    state->since = 0;
"
            ),
            after: format!("{moves}    return 1;\n"),
            comment: format!(
                " The network takes a step with every {}: then this
   returns 1 and the class may change, otherwise it returns 0.",
                match stride {
                    1 => "frame".to_owned(),
                    2 => "second frame".to_owned(),
                    3 => "third frame".to_owned(),
                    stride => format!("{stride}th frame"),
                }
            ),
        })
    }
}
