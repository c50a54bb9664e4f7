//! Checks that stages fit each other, the sparsities and `quantize`.

use super::{Config, ConfigError};
use crate::train::StageKind;

impl Config {
    /// Refuses stages that contradict one another or the settings about sparsity and integers.
    pub(super) fn check_stages(&self, batches: usize) -> Result<(), ConfigError> {
        let refuse = |what: &str| {
            Err(ConfigError::Stages { stages: self.training.stages.to_string(), what: what.to_owned() })
        };
        let kinds: Vec<StageKind> = self.training.stages.0.iter().map(|s| s.kind).collect();
        if batches < kinds.len() {
            return refuse(&format!(
                "{} stages need more than {batches} batches; give more `epochs`",
                kinds.len()
            ));
        }
        let mut support = false;
        for (i, kind) in kinds.iter().enumerate() {
            match kind {
                StageKind::Project { .. } if !self.sparse() => {
                    return refuse("nothing is sparse; set `keep-w`, `keep-u` or `keep-head` below 1");
                }
                StageKind::Frozen if !support => {
                    return refuse("a frozen stage holds what a project stage kept; put one before it");
                }
                StageKind::Quantized if !self.quantization.quantize => {
                    return refuse("a quantized stage trains for integers; set `quantize`");
                }
                StageKind::Quantized if i + 1 < kinds.len() => {
                    return refuse("nothing may follow a quantized stage");
                }
                StageKind::Project { .. } => support = true,
                StageKind::Dense => support = false,
                StageKind::Frozen | StageKind::Quantized => {}
            }
        }
        if self.sparse() && !support {
            return refuse(
                "a `keep-w`, `keep-u` or `keep-head` below 1 needs a project stage, and no dense one after it",
            );
        }
        let last = kinds.iter().rev().find(|kind| kind.projects());
        match last {
            Some(StageKind::Project { keep: Some(_), .. }) => refuse(
                "keep is for a stage on the way; the last projection uses `keep-w`, `keep-u` and `keep-head`",
            ),
            _ => Ok(()),
        }
    }
}
