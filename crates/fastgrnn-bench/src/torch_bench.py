"""The PyTorch side of `fastgrnn bench train --against torch`: one training step, timed on request.

Speaks JSON lines. At the start it writes {"torch": version}. Then it answers each request line:

    {"do": "prepare", "id", "variant", "t", "d", "h", "rank_w", "rank_u", "classes", "batch"}
        -> {"seconds": time to build, compile and warm up}
    {"do": "run", "id", "seconds"} -> {"times": [seconds of each step], "cpu": process CPU seconds}

or {"error": why}. A step is forward, softmax cross-entropy, backward and Adam, in float32. Variants:
`lean` and `lean_compiled` are FastGRNN (full rank where a rank is null) with the input product of
all time steps and one bias hoisted out of the loop; `gru` and `lstm` are torch.nn's.
"""

import json
import os
import sys
import time

import torch
from torch import nn

# Before the first parallel operation: worker threads inherit the setting from this one.
torch.set_flush_denormal(True)
torch.set_num_threads(int(sys.argv[1]))

WHOLE_LOOP = 162
CHUNK = 50


class Lean(nn.Module):
    """FastGRNN as lean as eager PyTorch allows; time first in memory."""

    def __init__(self, t, d, h, rank_w, rank_u, classes):
        super().__init__()
        self.w = factors(h, d, rank_w)
        self.u = factors(h, h, rank_u)
        self.b_z, self.b_h = nn.Parameter(torch.ones(h)), nn.Parameter(torch.ones(h))
        self.zeta, self.nu = nn.Parameter(torch.tensor([1.0])), nn.Parameter(torch.tensor([-4.0]))
        self.head = nn.Linear(h, classes)
        chunks = 1 if t <= WHOLE_LOOP else -(-t // CHUNK)
        self.chunk = -(-t // chunks)
        self.loop = lean_loop

    def forward(self, x):
        wx = x
        for factor in reversed(self.w):
            wx = wx @ factor
        zeta, nu = torch.sigmoid(self.zeta), torch.sigmoid(self.nu)
        h = torch.zeros(x.shape[1], self.b_z.shape[0])
        for part in (wx + self.b_z).split(self.chunk):
            h = self.loop(h, part, list(self.u), self.b_h - self.b_z, zeta, zeta + nu)
        return self.head(h)


def factors(rows, cols, rank):
    """Right-hand factors of x -> x @ cols..rows, the outermost first."""
    sizes = [(cols, rows)] if rank is None else [(rank, rows), (cols, rank)]
    return nn.ParameterList([nn.Parameter(size[0] ** -0.5 * torch.randn(size)) for size in sizes])


def lean_loop(h, wx_bz, u, b_h_less_b_z, zeta, zeta_plus_nu):
    # unbind, not wx_bz[t]: the gradient of an index is a zero tensor of the whole sequence.
    for wx_t in wx_bz.unbind(0):
        inner = h if len(u) == 1 else h @ u[1]
        a = torch.addmm(wx_t, inner, u[0])
        z = torch.sigmoid(a)
        candidate = torch.tanh(a + b_h_less_b_z)
        h = torch.addcmul(z * h, zeta_plus_nu - zeta * z, candidate)
    return h


class Library(nn.Module):
    """nn.GRU or nn.LSTM and a head on the last state."""

    def __init__(self, module, d, h, classes):
        super().__init__()
        self.rnn, self.head = module(d, h), nn.Linear(h, classes)

    def forward(self, x):
        return self.head(self.rnn(x)[0][-1])


class Training:
    """A model with its batch and optimiser."""

    def __init__(self, variant, t, d, h, rank_w, rank_u, classes, batch):
        torch.manual_seed(0)
        if variant in ("lean", "lean_compiled"):
            self.model = Lean(t, d, h, rank_w, rank_u, classes)
        else:
            self.model = Library({"gru": nn.GRU, "lstm": nn.LSTM}[variant], d, h, classes)
        self.call = self.model
        if variant == "lean_compiled":
            if t <= WHOLE_LOOP:
                self.call = torch.compile(self.model, dynamic=False)
            else:
                self.model.loop = torch.compile(lean_loop, dynamic=False)
        self.x = torch.randn(t, batch, d)
        self.y = torch.randint(classes, (batch,))
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(self.call(self.x), self.y).backward()
        self.optimiser.step()


def run(training, seconds):
    times, start = [], time.perf_counter()
    cpu = time.process_time()
    while not times or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        training.step()
        times.append(time.perf_counter() - before)
    return {"times": times, "cpu": time.process_time() - cpu}


def answer(request, prepared):
    action, name = request.pop("do"), request.pop("id", None)
    if action == "prepare":
        start = time.perf_counter()
        prepared[name] = Training(**request)
        for _ in range(3):
            prepared[name].step()
        return {"seconds": time.perf_counter() - start}
    return run(prepared[name], **request)


def main():
    # Libraries print to stdout, too: keep the protocol's channel to ourselves.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message):
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    prepared = {}
    reply({"torch": torch.__version__})
    for line in sys.stdin:
        try:
            reply(answer(json.loads(line), prepared))
        except Exception as error:
            reply({"error": f"{type(error).__name__}: {str(error)[:500]}"})


main()
