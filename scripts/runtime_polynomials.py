"""Derives the polynomials of crates/fastgrnn-runtime/src/float/math.rs by the Remez exchange.

    python scripts/runtime_polynomials.py

Needs numpy. Both functions are fitted in relative error with their leading terms held exact:
e^r = 1 + r + r^2 Q(r) on [-ln2/2, ln2/2] and tanh x = x + x^3 R(x^2) on [0, 0.625].
"""

import numpy as np


def remez(target, weight, low, high, terms, rounds=50):
    """Coefficients c with the smallest maximum of weight(x) * |target(x) - sum c_i x^i|."""
    grid = np.linspace(low, high, 200_001)
    angles = np.pi * np.arange(terms + 1) / terms
    points = (low + high) / 2 - (high - low) / 2 * np.cos(angles)
    signs = (-1.0) ** np.arange(terms + 1)
    for _ in range(rounds):
        rows = np.column_stack([np.vander(points, terms, increasing=True), signs / weight(points)])
        coefficients = np.linalg.solve(rows, target(points))[:terms]
        error = weight(grid) * (target(grid) - np.vander(grid, terms, increasing=True) @ coefficients)
        # One extremum from each run of equal sign.
        runs = np.split(np.arange(len(grid)), np.flatnonzero(np.diff(np.sign(error))) + 1)
        best = [run[np.argmax(np.abs(error[run]))] for run in runs]
        if len(best) < terms + 1:
            break
        while len(best) > terms + 1:
            best.pop(0 if abs(error[best[0]]) < abs(error[best[-1]]) else -1)
        points = grid[best]
    return coefficients, np.max(np.abs(error))


def series(r, count, factor):
    """sum_k factor(k) r^k, for where the closed form cancels."""
    return sum(factor(k) * r**k for k in range(count))


def factorial_tail(k):
    return 1.0 / np.prod(np.arange(1.0, k + 3))


def tanh_tail(s):
    x = np.sqrt(np.maximum(s, 1e-4))
    closed = (np.tanh(x) - x) / (x * x * x)
    taylor = -1 / 3 + s * (2 / 15 + s * (-17 / 315 + s * (62 / 2835)))
    return np.where(s < 0.01, taylor, closed)


half = np.log(2) / 2
q, error = remez(lambda r: series(r, 20, factorial_tail), lambda r: r**2 / np.exp(r) + 1e-30, -half, half, 5)
print("exp", [f"{c:.9e}" for c in q], f"relative error {error:.1e}")
r, error = remez(tanh_tail, lambda s: s / (1 + s * tanh_tail(s)) + 1e-30, 0.0, 0.625**2, 5)
print("tanh", [f"{c:.9e}" for c in r], f"relative error {error:.1e}")
