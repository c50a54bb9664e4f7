//! The device of a benchmark, as the command line names it.

use std::str::FromStr;

/// Where training steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The CPU.
    Cpu,
    /// A GPU by its number.
    Cuda(usize),
    /// The first GPU if it can be used, else the CPU.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || "known devices: cpu, cuda, cuda:N, auto".to_owned();
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "auto" => Ok(Self::Auto),
            _ => {
                let number = text.strip_prefix("cuda:").ok_or_else(known)?;
                number.parse().map(Self::Cuda).map_err(|_| known())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_cpu_cuda_or_auto() {
        let parsed = ["cpu", "cuda", "cuda:3", "auto"].map(str::parse);
        let expected = [DeviceChoice::Cpu, DeviceChoice::Cuda(0), DeviceChoice::Cuda(3), DeviceChoice::Auto];
        assert_eq!(parsed, expected.map(Ok));
        for text in ["gpu", "cuda:", "cuda:-1", "cuda:x", ""] {
            assert!(text.parse::<DeviceChoice>().unwrap_err().contains("cuda:N"), "{text}");
        }
    }
}
