//! The result of a benchmark on a GPU: its JSON is a contract, its text a table.

use super::options::GpuCase;
use fastgrnn_core::cells::CellKind;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// What `fastgrnn bench train --device cuda --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuReport {
    /// The device, `cuda:0`.
    pub device: String,
    /// Name of the GPU.
    pub gpu: String,
    /// Version of its driver, if `nvidia-smi` says it.
    pub driver: Option<String>,
    /// PyTorch's versions, if it was measured.
    pub torch: Option<TorchVersions>,
    /// A row a shape, cell, number of networks and batch.
    pub rows: Vec<GpuRow>,
}

/// Versions of PyTorch and of what it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TorchVersions {
    /// Of PyTorch.
    pub version: String,
    /// Of CUDA.
    pub cuda: String,
    /// Of cuDNN.
    pub cudnn: String,
}

impl TorchVersions {
    pub(super) fn from_reply(hello: &Value) -> Self {
        let text = |key: &str| hello[key].as_str().unwrap_or("unknown").to_owned();
        Self { version: text("torch"), cuda: text("cuda"), cudnn: text("cudnn") }
    }
}

/// One training step without the optimiser, on all networks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuRow {
    /// Name of the shape.
    pub shape: &'static str,
    /// Our cell, of full rank.
    pub cell: CellKind,
    /// Networks that are trained at once.
    pub networks: usize,
    /// Sequences in the batch of each.
    pub batch: usize,
    /// Our microseconds, the median of the blocks; missing if it failed.
    pub us: Option<f64>,
    /// The fastest and the slowest of our blocks.
    pub us_range: Option<[f64; 2]>,
    /// Why `us` is missing.
    pub why: Option<String>,
    /// The peer of the ratio: for a FastGRNN the fastest of cuDNN's GRU and LSTM, for a GRU or LSTM cuDNN's.
    pub peer: Option<String>,
    /// Its microseconds for as many networks.
    pub peer_us: Option<f64>,
    /// Whether that is measured.
    pub peer_basis: Option<Basis>,
    /// How many times as fast as the peer ours is.
    pub ratio: Option<f64>,
    /// Everything of PyTorch that was measured at this shape, number of networks and batch.
    pub peers: Option<Vec<PeerTime>>,
}

/// A time of PyTorch's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeerTime {
    /// What was measured.
    pub name: String,
    /// Its cell: a GRU or LSTM is cuDNN's, a FastGRNN a compiled loop over time.
    pub cell: CellKind,
    /// Networks in the step that was measured.
    pub measured_networks: usize,
    /// Microseconds of a step of the row's networks; missing if it failed.
    pub us: Option<f64>,
    /// Whether that is measured.
    pub basis: Basis,
    /// Why `us` is missing.
    pub why: Option<String>,
}

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// It was measured.
    Measured,
    /// It is the time of fewer networks, times how many times as many there are.
    Scaled,
}

impl GpuRow {
    /// A row with the microseconds of our blocks, or with why there are none.
    pub(super) fn new(
        case: &GpuCase,
        cell: CellKind,
        peers: Option<&[PeerTime]>,
        mut blocks: Vec<f64>,
        why: Option<String>,
    ) -> Self {
        blocks.sort_by(f64::total_cmp);
        let us = median(&blocks);
        let peer = peers.and_then(|peers| fastest_cudnn(cell, peers));
        Self {
            shape: case.shape.name,
            cell,
            networks: case.networks,
            batch: case.shape.batch,
            us,
            us_range: blocks.first().zip(blocks.last()).map(|(&first, &last)| [first, last]),
            why,
            peer: peer.map(|(peer, _)| peer.name.clone()),
            peer_us: peer.map(|(_, us)| us),
            peer_basis: peer.map(|(peer, _)| peer.basis),
            ratio: peer.zip(us).map(|((_, peer), ours)| peer / ours),
            peers: peers.map(<[_]>::to_vec),
        }
    }

    /// The microseconds of PyTorch's FastGRNN.
    fn loop_us(&self) -> Option<f64> {
        self.peers.iter().flatten().filter(|peer| peer.cell == CellKind::FastGrnn).find_map(|peer| peer.us)
    }

    /// What is missing, and why.
    fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        let ours = self.why.as_deref().map(|why| ("fastgrnn", why));
        let peers = self.peers.iter().flatten();
        ours.into_iter().chain(peers.filter_map(|peer| Some((peer.name.as_str(), peer.why.as_deref()?))))
    }
}

/// The peer of the ratio of a cell, and its time.
fn fastest_cudnn(cell: CellKind, peers: &[PeerTime]) -> Option<(&PeerTime, f64)> {
    let is_peer = |peer: &&PeerTime| match cell {
        CellKind::Gru | CellKind::Lstm => peer.cell == cell,
        _ => peer.cell != CellKind::FastGrnn,
    };
    let timed = peers.iter().filter(is_peer).filter_map(|peer| Some((peer, peer.us?)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The median of sorted numbers.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[n / 2]),
        n => Some(0.5 * (sorted[n / 2 - 1] + sorted[n / 2])),
    }
}

impl fmt::Display for GpuReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let driver = self.driver.as_ref().map_or_else(String::new, |version| format!(", driver {version}"));
        writeln!(
            f,
            "training steps without the optimiser, full rank, on {} ({}{driver}); times in us",
            self.gpu, self.device
        )?;
        if let Some(TorchVersions { version, cuda, cudnn }) = &self.torch {
            writeln!(
                f,
                "against PyTorch {version} with CUDA {cuda} and cuDNN {cudnn}: the fastest of cuDNN's GRU and LSTM, \
                 and a compiled FastGRNN, all in CUDA graphs"
            )?;
        }
        write!(f, "{:<11} {:<9} {:>8} {:>5} {:>9}", "shape", "cell", "networks", "batch", "us")?;
        if self.torch.is_some() {
            write!(f, " {:>10}  {:<24} {:>7} {:>14}", "peer us", "peer", "ratio", "torch fastgrnn")?;
        }
        writeln!(f)?;
        for row in &self.rows {
            let GpuRow { shape, cell, networks, batch, .. } = row;
            write!(f, "{shape:<11} {cell:<9} {networks:>8} {batch:>5} {:>9}", number(row.us, 1))?;
            if self.torch.is_some() {
                write!(
                    f,
                    " {:>10}{} {:<24} {:>7} {:>14}",
                    number(row.peer_us, 1),
                    if row.peer_basis == Some(Basis::Scaled) { "*" } else { " " },
                    row.peer.as_deref().unwrap_or("-"),
                    number(row.ratio, 2),
                    number(row.loop_us(), 1),
                )?;
            }
            writeln!(f)?;
        }
        if self.rows.iter().any(|row| row.peer_basis == Some(Basis::Scaled)) {
            writeln!(
                f,
                "* scaled from the measured time of fewer networks; all other times and fastgrnn's are measured"
            )?;
        }
        for row in &self.rows {
            for (what, why) in row.missing() {
                let GpuRow { shape, cell, networks, batch, .. } = row;
                writeln!(f, "{shape} {cell} {networks} x {batch}: without {what}: {}", shortened(why))?;
            }
        }
        Ok(())
    }
}

/// The first letters of the last line that says something: what Python's errors say, they say there.
fn shortened(why: &str) -> String {
    const LETTERS: usize = 200;
    let line = why.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::SHAPES;

    fn peer(name: &str, cell: CellKind, us: Option<f64>, basis: Basis) -> PeerTime {
        let why = us.is_none().then(|| "Traceback\nRuntimeError: no compiler\n".to_owned());
        PeerTime { name: name.to_owned(), cell, measured_networks: 16, us, basis, why }
    }

    fn row(cell: CellKind) -> GpuRow {
        let peers = [
            peer("cuDNN GRU", CellKind::Gru, Some(50.0), Basis::Measured),
            peer("cuDNN LSTM", CellKind::Lstm, Some(40.0), Basis::Scaled),
            peer("PyTorch FastGRNN", CellKind::FastGrnn, None, Basis::Measured),
        ];
        let case = GpuCase { shape: SHAPES[0], networks: 256, cells: vec![cell] };
        GpuRow::new(&case, cell, Some(&peers), vec![12.0, 9.0, 10.0], None)
    }

    #[test]
    fn the_ratio_is_over_the_faster_of_gru_and_lstm_or_over_the_same_cell() {
        let found = [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm].map(row);
        assert_eq!(found.each_ref().map(|row| row.us), [Some(10.0); 3]);
        assert_eq!(found.each_ref().map(|row| row.us_range), [Some([9.0, 12.0]); 3]);
        assert_eq!(found.each_ref().map(|row| row.ratio), [Some(4.0), Some(5.0), Some(4.0)]);
        assert_eq!(found[1].peer.as_deref(), Some("cuDNN GRU"));
        assert_eq!(found[0].peer_basis, Some(Basis::Scaled));
    }

    #[test]
    fn the_table_marks_what_is_scaled_and_says_what_is_missing() {
        let report = GpuReport {
            device: "cuda:0".to_owned(),
            gpu: "NVIDIA H200".to_owned(),
            driver: Some("580.1".to_owned()),
            torch: Some(TorchVersions::default()),
            rows: vec![row(CellKind::FastGrnn)],
        };
        let text = report.to_string();
        assert!(text.contains("40.0* cuDNN LSTM"), "{text}");
        assert!(text.contains("without PyTorch FastGRNN: RuntimeError: no compiler\n"), "{text}");
        let text = GpuReport { torch: None, ..report }.to_string();
        assert!(!text.contains("peer"), "{text}");
    }

    #[test]
    fn long_reasons_are_cut() {
        assert_eq!(shortened(&"ä".repeat(300)).chars().count(), 201);
        assert_eq!(shortened(""), "");
    }
}
