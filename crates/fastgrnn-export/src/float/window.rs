//! The window over the last frames, in soft-float C.

use fastgrnn::quantize::IntegerNetwork;
use fastgrnn::window::Window;

/// What a window adds to the code. Without one, all but `frame` and `kind` are empty.
pub(super) struct FloatWindow {
    /// Whether there is a window.
    pub(super) is_there: bool,
    /// The declaration of `x`, where the normalised frame goes.
    pub(super) frame: String,
    /// The C type of what `step` returns.
    pub(super) kind: &'static str,
    /// The line of the header with the stride.
    pub(super) stride: String,
    /// Members of the state struct.
    pub(super) members: String,
    /// Their bytes.
    pub(super) bytes: usize,
    /// Statements of `reset`; `i` counts to 65535.
    pub(super) reset: String,
    /// Statements of `step` before the layers.
    pub(super) before: String,
    /// Statements of `step` after the layers.
    pub(super) after: String,
    /// What the header says about the value of `step`.
    pub(super) comment: &'static str,
}

impl FloatWindow {
    /// The window of a network, whose prefix in macros is `upper`.
    pub(super) fn new(network: &IntegerNetwork, upper: &str) -> Self {
        let Window { frames, stride } = network.window;
        let features = network.input.factors.len();
        if network.window.is_frame() {
            return Self {
                is_there: false,
                frame: format!("x[{upper}_FEATURES]"),
                kind: "void",
                stride: String::new(),
                members: String::new(),
                bytes: 0,
                reset: String::new(),
                before: String::new(),
                after: String::new(),
                comment: "",
            };
        }
        let (all, left) = (frames * features, (frames - stride) * features);
        let moves = format!(
            "    for (d = 0; d < {left}u; d++) {{
        state->window[d] = state->window[d + {}u];
        FENCE();
    }}
",
            stride * features
        );
        Self {
            is_there: true,
            frame: format!("*x = state->window + {left}u + (uint16_t)(state->since * {features}u)"),
            kind: "uint8_t",
            stride: format!(
                "#define {upper}_STRIDE {stride} /* frames from one step of the network to the next */\n"
            ),
            members: format!(
                "    float window[{all}]; /* the last frames, the oldest first */\n    uint32_t since; /* frames since the last step */\n"
            ),
            bytes: 4 * all + 4,
            reset: format!(
                "    for (i = 0; i < {all}u; i++) {{
        state->window[i] = 0.0f;
        FENCE();
    }}
    state->since = 0;
"
            ),
            before: format!(
                "    state->since++;
    if (state->since < {stride}u)
        return 0;
    state->since = 0;
"
            ),
            after: format!("{}    return 1;\n", if left == 0 { "" } else { &moves }),
            comment: " Returns whether the network took a step.",
        }
    }
}
