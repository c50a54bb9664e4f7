"""Writes the scikit-learn reference vectors of sets of labels that the tests of crates/fastgrnn-core read.

    python scripts/set_metrics_vectors.py crates/fastgrnn-core/tests/vectors/set_metrics.json

Needs scikit-learn 1.3 or newer. Each case has scores, true labels and what scikit-learn says about them.
Scores are multiples of 1/8, so that they are short in the file, exact in float32 and often equal. The
rule for equal scores is that the label with the smaller number comes first; scikit-learn gets ranks in
place of scores, which follow this rule. Some true labels have no score: they are labels that training did
not have. scikit-learn sees them as labels that are ranked last and never decided for.

Precision@k is the precision of each row if exactly its k best-ranked labels are predicted; with fewer than k
labels, labels that are never true fill the row. Macro F1 leaves out labels that are neither true nor
predicted (`zero_division=nan`).
"""

import json
import sys

import numpy as np
from sklearn.metrics import f1_score, ndcg_score, precision_score

MOST = 5
NDCG_RANKS = [1, 3, 5]


def case(rng, rows, labels, unseen, share):
    scores = np.round(8 * 2 * rng.standard_normal((rows, labels))) / 8
    chance = share * (1 + np.tanh(scores))
    truth = (rng.random((rows, labels)) < chance).astype(int)
    missed = (rng.random((rows, unseen)) < 0.2).astype(int)
    # At least five labels that are ranked before those that training did not have.
    padding = max(0, 5 - labels)
    known = np.hstack([truth, missed, np.zeros((rows, padding), int)])
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.full(known.shape, -np.inf)
    for row in range(rows):
        ranks[row, order[row]] = -np.arange(labels)
    width = known.shape[1]
    ranks[:, labels + unseen:] = -labels - np.arange(padding)
    ranks[:, labels: labels + unseen] = -labels - padding - np.arange(unseen)
    decided = np.hstack([(scores > 0).astype(int), np.zeros((rows, width - labels), int)])
    expected = {}
    for k in range(1, MOST + 1):
        best = (ranks > np.sort(ranks, axis=1)[:, [-k - 1]]) if k < width else np.ones(known.shape, bool)
        expected[f"precision_at_{k}"] = precision_score(known, best, average="samples", zero_division=0)
        if k in NDCG_RANKS:
            expected[f"ndcg_at_{k}"] = ndcg_score(known, ranks, k=k)
    expected["micro_f1"] = f1_score(known, decided, average="micro", zero_division=np.nan)
    expected["macro_f1"] = f1_score(known, decided, average="macro", zero_division=np.nan)
    expected = {key: None if np.isnan(value) else float(value) for key, value in expected.items()}
    return {
        "labels": labels,
        "scores": scores.tolist(),
        "truth": [np.flatnonzero(row[: labels + unseen]).tolist() for row in known],
        "expected": expected,
    }


def main():
    rng = np.random.default_rng(14)
    shapes = [(1, 1, 0, 0.5), (1, 2, 1, 0.3), (4, 3, 0, 0.3), (6, 5, 2, 0.2), (12, 8, 0, 0.15), (12, 8, 3, 0.15),
              (20, 30, 0, 0.05), (20, 30, 4, 0.05), (5, 6, 0, 0.0), (30, 4, 1, 0.5)]
    cases = [case(rng, *shape) for shape in shapes for _ in range(3)]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(cases, file, separators=(",", ":"))
        file.write("\n")


main()
