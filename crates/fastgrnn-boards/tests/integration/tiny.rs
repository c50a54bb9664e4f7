//! A model of a few lines of C, for tests that are not about models.

use fastgrnn_export::{CSource, Optimize};

const HEADER: &str = "#include <stdint.h>
#define MODEL_FEATURES 1
#define MODEL_OUTPUTS 1
typedef struct model_state { int16_t h[1 + MORE]; } model_state;
void model_init(model_state *state);
void model_reset(model_state *state);
void model_step(model_state *state, const int16_t *counts);
uint16_t model_classify(const model_state *state, int32_t *scores, uint8_t *confidence);
";

const AROUND: &str = "#include \"model.h\"
void model_init(model_state *state) { state->h[0] = 0; }
void model_reset(model_state *state) { state->h[0] = 0; }
uint16_t model_classify(const model_state *state, int32_t *scores, uint8_t *confidence)
{
    scores[0] = state->h[0];
    *confidence = 1;
    return 0;
}
";

/// A model whose step is `step`, in C or as `__asm__`, with so many numbers more than it needs.
pub fn model(step: &str, more: usize) -> CSource {
    CSource {
        name: "model".into(),
        header: HEADER.replace("MORE", &more.to_string()),
        source: format!("{AROUND}{step}\n"),
        features: 1,
        outputs: 1,
        data_bytes: 0,
        state_bytes: 2 + 2 * more,
        scratch_bytes: 0,
        optimize: Optimize::Size,
        front: None,
    }
}
