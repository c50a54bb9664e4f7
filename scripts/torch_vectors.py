"""Writes the PyTorch reference vectors that the tests of crates/fastgrnn-engine read.

    python scripts/torch_vectors.py crates/fastgrnn-engine/tests/vectors

It writes torch.json, and language.json with the perplexity of language models on a text.

Needs torch. RNN, GRU and LSTM are torch.nn's own modules on packed sequences; FastRNN, FastGRNN,
FastRNN-vector, UGRNN and minGRU are written out below from their equations and differentiated by autograd.
A diagonal matrix is built by torch.diag, block by block.
Everything is float64. Inputs and parameters are multiples of 1/128, so that they are short in the
file and exact in float32. `params` and `gradient` follow the flat layout of the Rust library.
"""

import json
import pathlib
import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
D, H, OUTPUTS, LENGTHS = 2, 3, 2, [4, 1, 3]
VOCABULARY, TOKENS = 6, 25
NONLINEARITY = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "quantTanh": lambda x: x.clamp(-1, 1),
    "quantSigm": lambda x: ((x + 1) / 2).clamp(0, 1),
    "quantSigm4": lambda x: ((x + 2) / 4).clamp(0, 1),
    "identity": lambda x: x,
}


def draw(generator, *shape, scale=0.8):
    return torch.round(128 * scale * torch.randn(*shape, generator=generator)) / 128


def declare(cell):
    """(name, shape) of a layer's parameters in layout order."""
    blocks = {"ugrnn": 2, "mingru": 2, "gru": 3, "lstm": 4}.get(cell["kind"], 1)
    shapes = []
    for matrix, cols in (("w", cell["input"]), ("u", cell["hidden"])):
        form = cell["form_" + matrix]
        if form == "full":
            shapes.append((matrix, (blocks * H, cols)))
        elif form == "diagonal":
            shapes.append((matrix, (blocks * H, 1)))
        elif form != "none":
            shapes += [(matrix + "1", (blocks * H, form)), (matrix + "2", (cols, form))]
    pointwise = {
        "rnn": [("b", H)],
        "fastrnn": [("b", H), ("alpha", 1), ("beta", 1)],
        "fastrnn-vector": [("b", H), ("alpha", H), ("zeta", 1), ("nu", 1)],
        "fastgrnn": [("b_z", H), ("b_h", H), ("zeta", 1), ("nu", 1)],
        "ugrnn": [("b_z", H), ("b_h", H)],
        "mingru": [("b_z", H), ("b_h", H)],
        "gru": [("b_r", H), ("b_z", H), ("b_n", H), ("b_hn", H)],
        "lstm": [("b_i", H), ("b_f", H), ("b_g", H), ("b_o", H)],
    }[cell["kind"]]
    return shapes + [(name, (size,)) for name, size in pointwise]


def matrix(cell, p, name):
    """The full matrix that the parameters of a layer stand for."""
    form = cell["form_" + name]
    if form == "full":
        return p[name]
    if form == "diagonal":
        return torch.cat([torch.diag(block) for block in p[name].flatten().split(H)])
    return p[name + "1"] @ p[name + "2"].T


def step(cell, gate, update, p, x, h):
    kind = cell["kind"]
    a = x @ matrix(cell, p, "w").T
    if cell["form_u"] != "none":
        a = a + h @ matrix(cell, p, "u").T
    sigmoid = torch.sigmoid
    if kind == "fastrnn":
        return sigmoid(p["alpha"]) * update(a + p["b"]) + sigmoid(p["beta"]) * h
    if kind == "fastrnn-vector":
        alpha = sigmoid(p["alpha"])
        beta = sigmoid(p["zeta"]) * (1 - alpha) + sigmoid(p["nu"])
        return alpha * update(a + p["b"]) + beta * h
    if kind == "fastgrnn":
        z = gate(a + p["b_z"])
        return (sigmoid(p["zeta"]) * (1 - z) + sigmoid(p["nu"])) * update(a + p["b_h"]) + z * h
    if kind == "ugrnn":
        z = gate(a[:H] + p["b_z"])
        return z * h + (1 - z) * update(a[H:] + p["b_h"])
    if kind == "mingru":
        z = gate(a[:H] + p["b_z"])
        return (1 - z) * h + z * update(a[H:] + p["b_h"])
    raise ValueError(kind)


def run_by_hand(cells, params, x, initial):
    """Last-layer states of each sequence, each sequence on its own."""
    outputs = []
    for i, sequence in enumerate(x):
        states = list(sequence)
        for cell, p, h0 in zip(cells, params, initial):
            gate, update = NONLINEARITY[cell["gate"]], NONLINEARITY[cell["update"]]
            h, inputs, states = h0[i], states, []
            for value in inputs:
                h = step(cell, gate, update, p, value, h)
                states.append(h)
        outputs.append(torch.stack(states))
    return outputs


def run_nn(cells, params, x, initial):
    """The same by nn.RNN, nn.GRU or nn.LSTM over one packed batch."""
    kind, layers = cells[0]["kind"], len(cells)
    D = cells[0]["input"]
    if kind == "rnn":
        module = nn.RNN(D, H, layers, nonlinearity=cells[0]["update"])
    else:
        module = {"gru": nn.GRU, "lstm": nn.LSTM}[kind](D, H, layers)
    zero = torch.zeros(H)
    weights = {}
    for layer, p in enumerate(params):
        if kind == "rnn":
            b_ih, b_hh = p["b"], zero
        elif kind == "gru":
            b_ih = torch.cat([p["b_r"], p["b_z"], p["b_n"]])
            b_hh = torch.cat([zero, zero, p["b_hn"]])
        else:
            b_ih = torch.cat([p["b_i"], p["b_f"], p["b_g"], p["b_o"]])
            b_hh = torch.cat([zero] * 4)
        cell = cells[layer]
        named = {"weight_ih": matrix(cell, p, "w"), "weight_hh": matrix(cell, p, "u"), "bias_ih": b_ih,
                 "bias_hh": b_hh}
        weights.update({f"{name}_l{layer}": value for name, value in named.items()})
    packed = nn.utils.rnn.pack_sequence(x, enforce_sorted=False)
    h0 = torch.stack(initial)
    state = (h0, torch.zeros_like(h0)) if kind == "lstm" else h0
    output, _ = torch.func.functional_call(module, weights, (packed, state))
    padded, lengths = nn.utils.rnn.pad_packed_sequence(output)
    return [padded[:length, i] for i, length in enumerate(lengths.tolist())]


def case(name, seed, kind, *, layers=1, forms=("full", "full"), gate="sigmoid", update="tanh",
         readout="last", with_initial=False):
    generator = torch.Generator().manual_seed(seed)
    cells = [
        {"kind": kind, "input": D if layer == 0 else H, "hidden": H, "form_w": forms[0], "form_u": forms[1],
         "gate": gate, "update": update}
        for layer in range(layers)
    ]
    params = [
        {key: draw(generator, *shape).requires_grad_() for key, shape in declare(cell)} for cell in cells
    ]
    head_w = draw(generator, OUTPUTS, H).requires_grad_()
    head_b = draw(generator, OUTPUTS).requires_grad_()
    x = [draw(generator, length, D) for length in LENGTHS]
    scale = 0.5 if with_initial else 0.0
    initial = [draw(generator, len(x), H, scale=scale) for _ in cells]

    run = run_nn if kind in ("rnn", "gru", "lstm") else run_by_hand
    states = run(cells, params, x, initial)
    rows = torch.cat(states) if readout == "every" else torch.stack([s[-1] for s in states])
    scores = rows @ head_w.T + head_b
    targets = [(5 * i + 3) // 2 % OUTPUTS for i in range(len(scores))]
    loss = nn.functional.cross_entropy(scores, torch.tensor(targets))
    loss.backward()

    flat = [tensor for p in params for tensor in p.values()] + [head_w, head_b]
    return {
        "name": name,
        "network": {"layers": cells, "outputs": OUTPUTS, "readout": readout},
        "params": [v for tensor in flat for v in tensor.detach().flatten().tolist()],
        "x": [sequence.flatten().tolist() for sequence in x],
        "initial": torch.cat(initial, dim=1).flatten().tolist() if with_initial else [],
        "targets": targets,
        "scores": scores.detach().flatten().tolist(),
        "loss": loss.item(),
        "gradient": [v for tensor in flat for v in tensor.grad.flatten().tolist()],
    }


def language_case(name, seed, kind, *, layers=1, tied=False):
    """A language model on a text: token 0 comes before it, and every token is predicted."""
    generator = torch.Generator().manual_seed(seed)
    width = H if tied else D
    cells = [
        {"kind": kind, "input": width if layer == 0 else H, "hidden": H, "form_w": "full", "form_u": "full",
         "gate": "sigmoid", "update": "tanh"}
        for layer in range(layers)
    ]
    params = [
        {key: draw(generator, *shape).requires_grad_() for key, shape in declare(cell)} for cell in cells
    ]
    head_w = draw(generator, VOCABULARY, H).requires_grad_()
    head_b = draw(generator, VOCABULARY).requires_grad_()
    embedding = draw(generator, VOCABULARY, width).requires_grad_()
    text = torch.randint(VOCABULARY, (TOKENS,), generator=generator)
    inputs = torch.cat([torch.zeros(1, dtype=torch.long), text[:-1]])
    x = [nn.functional.embedding(inputs, embedding)]
    initial = [torch.zeros(1, H) for _ in cells]
    run = run_nn if kind in ("rnn", "gru", "lstm") else run_by_hand
    scores = nn.functional.linear(run(cells, params, x, initial)[0], embedding if tied else head_w, head_b)
    loss = nn.functional.cross_entropy(scores, text)
    loss.backward()
    head = [head_b] if tied else [head_w, head_b]
    flat = [tensor for p in params for tensor in p.values()] + head + [embedding]
    return {
        "name": name,
        "network": {"layers": cells, "outputs": VOCABULARY, "readout": "every",
                    "embedding": {"vocabulary": VOCABULARY, "tied": tied}},
        "params": [v for tensor in flat for v in tensor.detach().flatten().tolist()],
        "text": text.tolist(),
        "perplexity": loss.exp().item(),
        "gradient": [v for tensor in flat for v in tensor.grad.flatten().tolist()],
    }


CASES = [
    case("nn.RNN, tanh, two layers", 1, "rnn", layers=2),
    case("nn.RNN, relu", 2, "rnn", update="relu", readout="every"),
    case("nn.GRU, two layers", 3, "gru", layers=2),
    case("nn.GRU, given initial state, every state read", 4, "gru", readout="every", with_initial=True),
    case("nn.GRU, low-rank", 5, "gru", forms=(1, 2)),
    case("nn.LSTM, two layers", 6, "lstm", layers=2),
    case("nn.LSTM, given initial state, every state read", 7, "lstm", readout="every", with_initial=True),
    case("nn.LSTM, low-rank", 8, "lstm", forms=(1, 2)),
    case("FastRNN", 9, "fastrnn", layers=2),
    case("FastRNN, low-rank, relu", 10, "fastrnn", forms=(1, 2), update="relu", with_initial=True),
    case("FastRNN-vector", 11, "fastrnn-vector", readout="every"),
    case("FastGRNN, two layers", 12, "fastgrnn", layers=2),
    case("FastGRNN, low-rank", 13, "fastgrnn", forms=(1, 2), with_initial=True),
    case("FastGRNN, low-rank, piecewise linear", 14, "fastgrnn", forms=(2, 1), gate="quantSigm",
         update="quantTanh", readout="every"),
    case("UGRNN", 15, "ugrnn", layers=2),
    case("FastGRNN, diagonal U, two layers", 16, "fastgrnn", layers=2, forms=("full", "diagonal")),
    case("FastGRNN, low-rank W, diagonal U", 17, "fastgrnn", forms=(1, "diagonal"), readout="every",
         with_initial=True),
    case("nn.GRU, diagonal U, two layers", 18, "gru", layers=2, forms=("full", "diagonal")),
    case("nn.LSTM, diagonal U", 19, "lstm", forms=("full", "diagonal"), with_initial=True),
    case("UGRNN, identity, no U", 20, "ugrnn", forms=("full", "none"), update="identity"),
    case("minGRU, two layers", 21, "mingru", layers=2, forms=("full", "none"), update="identity"),
    case("minGRU, low-rank, tanh", 22, "mingru", forms=(1, "none"), readout="every", with_initial=True),
]

LANGUAGE_CASES = [
    language_case("FastGRNN, tied", 31, "fastgrnn", tied=True),
    language_case("FastGRNN, two layers", 32, "fastgrnn", layers=2),
    language_case("FastRNN, tied, two layers", 33, "fastrnn", layers=2, tied=True),
    language_case("nn.GRU", 34, "gru"),
    language_case("nn.LSTM, tied, two layers", 35, "lstm", layers=2, tied=True),
]

for file_name, cases in (("torch.json", CASES), ("language.json", LANGUAGE_CASES)):
    with open(pathlib.Path(sys.argv[1]) / file_name, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
