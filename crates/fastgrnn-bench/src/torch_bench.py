"""The PyTorch side of `fastgrnn bench train --against torch`: one training step, timed on request.

Speaks JSON lines. At the start it writes {"torch": version}. Then it answers each request line:

    {"do": "prepare", "id", "cell", "mode", "merged", "t", "d", "h", "rank_w", "rank_u", "classes", "batch",
     "language", "softmax"}
        -> {"seconds": time to build, compile and warm up}
    {"do": "run", "id", "seconds"} -> {"times": [seconds of each step], "cpu": process CPU seconds}

or {"error": why}. A step is forward, softmax cross-entropy, backward and Adam, in float32.

Modes: `module` is torch.nn's GRU or LSTM. The others run a loop written for speed, with the input
product of all time steps hoisted out of it: `eager` as it stands, `script` under TorchScript,
`compile` and `autotune` under torch.compile in its default mode and in "max-autotune".

W and U are full where a rank is null. Otherwise `merged` says whether their two factors are
multiplied out once for each training step or applied one after the other at every time step.

A language model reads words and says the next one at every step; its vectors of words are the weights
of its head. `softmax` says how its loss is computed: `plain`, `chunked` (some rows at a time, each chunk
with its gradient, so that never all scores are in memory) or `compiled` (torch.compile of the plain one).
"""

import json
import os
import sys
import time
from typing import List, Tuple

import torch
from torch import Tensor, nn

# Before the first parallel operation: worker threads inherit the setting from this one.
torch.set_flush_denormal(True)
torch.set_num_threads(int(sys.argv[1]))

# Compiling unrolls the loop. A longer sequence is therefore compiled in chunks of at most this many steps.
LONGEST_LOOP = 196


def fastgrnn_loop(h: Tensor, c: Tensor, wx: Tensor, u: List[Tensor], extra: List[Tensor]) -> Tuple[List[Tensor], Tensor]:
    """The states of all steps. extra: b_h - b_z (b_z is in wx), zeta, zeta + nu."""
    states: List[Tensor] = []
    # unbind, not wx[t]: the gradient of an index is a zero tensor of the whole sequence.
    for wx_t in wx.unbind(0):
        a = torch.addmm(wx_t, h if len(u) == 1 else h @ u[1], u[0])
        z = torch.sigmoid(a)
        h = torch.addcmul(z * h, extra[2] - extra[1] * z, torch.tanh(a + extra[0]))
        states.append(h)
    return states, c


def gru_loop(h: Tensor, c: Tensor, wx: Tensor, u: List[Tensor], extra: List[Tensor]) -> Tuple[List[Tensor], Tensor]:
    """torch.nn's GRU. extra: the recurrent bias."""
    states: List[Tensor] = []
    for wx_t in wx.unbind(0):
        w_r, w_z, w_n = wx_t.chunk(3, 1)
        u_r, u_z, u_n = torch.addmm(extra[0], h, u[0]).chunk(3, 1)
        z = torch.sigmoid(w_z + u_z)
        n = torch.tanh(torch.addcmul(w_n, torch.sigmoid(w_r + u_r), u_n))
        h = torch.addcmul(n, z, h - n)
        states.append(h)
    return states, c


def lstm_loop(h: Tensor, c: Tensor, wx: Tensor, u: List[Tensor], extra: List[Tensor]) -> Tuple[List[Tensor], Tensor]:
    states: List[Tensor] = []
    for wx_t in wx.unbind(0):
        i, f, g, o = torch.addmm(wx_t, h, u[0]).chunk(4, 1)
        c = torch.addcmul(torch.sigmoid(f) * c, torch.sigmoid(i), torch.tanh(g))
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return states, c


LOOPS = {"fastgrnn": (fastgrnn_loop, 1), "gru": (gru_loop, 3), "lstm": (lstm_loop, 4)}


class Loop(nn.Module):
    """A cell as a loop over time; gives the states of all steps, or the last one; time first in memory."""

    def __init__(self, cell, merged, t, d, h, rank_w, rank_u, every):
        super().__init__()
        self.every = every
        self.cell, self.merged, self.hidden = cell, merged, h
        self.loop, blocks = LOOPS[cell]
        self.w, self.u = factors(blocks * h, d, rank_w), factors(blocks * h, h, rank_u)
        self.b, self.b_h = nn.Parameter(torch.ones(blocks * h)), nn.Parameter(torch.ones(blocks * h))
        self.zeta, self.nu = nn.Parameter(torch.tensor([1.0])), nn.Parameter(torch.tensor([-4.0]))
        self.chunk = -(-t // -(-t // LONGEST_LOOP))

    def forward(self, x):
        w, u = list(self.w), list(self.u)
        if self.merged:
            w, u = [w[1] @ w[0]], [u[1] @ u[0]]
        if self.cell == "fastgrnn":
            zeta, nu = torch.sigmoid(self.zeta), torch.sigmoid(self.nu)
            extra = [self.b_h - self.b, zeta, zeta + nu]
        else:
            extra = [self.b_h]
        wx = x
        for factor in reversed(w):
            wx = wx @ factor
        h = torch.zeros(x.shape[1], self.hidden)
        c = torch.zeros_like(h)
        states = []
        for part in (wx + self.b).split(self.chunk):
            found, c = self.loop(h, c, part, u, extra)
            h = found[-1]
            states += found
        return torch.stack(states) if self.every else h


def factors(rows, cols, rank):
    """Right-hand factors of x -> x @ cols..rows, the outermost first."""
    sizes = [(cols, rows)] if rank is None else [(rank, rows), (cols, rank)]
    return nn.ParameterList([nn.Parameter(size[0] ** -0.5 * torch.randn(size)) for size in sizes])


class Module(nn.Module):
    """nn.GRU or nn.LSTM; gives the states of all steps, or the last one."""

    def __init__(self, module, d, h, every):
        super().__init__()
        self.rnn, self.every = module(d, h), every

    def forward(self, x):
        states = self.rnn(x)[0]
        return states if self.every else states[-1]


class ChunkedSoftmax(torch.autograd.Function):
    """The mean cross-entropy of h @ w.T + b, some rows at a time, gradients included."""

    ROWS = 350

    @staticmethod
    def forward(ctx, h, w, b, y):
        dh, dw, db = torch.empty_like(h), torch.zeros_like(w), torch.zeros_like(b)
        loss = torch.zeros(())
        for start in range(0, len(h), ChunkedSoftmax.ROWS):
            rows = slice(start, start + ChunkedSoftmax.ROWS)
            scores = torch.addmm(b, h[rows], w.t())
            log_sum = scores.logsumexp(1, keepdim=True)
            target = y[rows, None]
            loss += (log_sum - scores.gather(1, target)).sum()
            d = scores.sub_(log_sum).exp_()
            d.scatter_add_(1, target, torch.full_like(target, -1, dtype=d.dtype))
            torch.mm(d, w, out=dh[rows])
            dw.addmm_(d.t(), h[rows])
            db += d.sum(0)
        ctx.save_for_backward(dh / len(h), dw / len(h), db / len(h))
        return loss / len(h)

    @staticmethod
    def backward(ctx, g):
        return *(g * d for d in ctx.saved_tensors), None


def plain_softmax(h, w, b, y):
    return nn.functional.cross_entropy(torch.addmm(b, h, w.t()), y)


class Net(nn.Module):
    """A network with its loss."""

    def __init__(self, body, d, h, classes, language, softmax):
        super().__init__()
        self.body, self.language = body, language
        # One matrix for the words that are read and those that are said.
        self.w = nn.Parameter(h ** -0.5 * torch.randn(classes, h))
        self.b = nn.Parameter(torch.zeros(classes))
        ways = {"plain": plain_softmax, "chunked": ChunkedSoftmax.apply, "compiled": torch.compile(plain_softmax)}
        self.loss = ways[softmax]

    def forward(self, x, y):
        states = self.body(nn.functional.embedding(x, self.w) if self.language else x)
        return self.loss(states.flatten(0, -2), self.w, self.b, y)


class Training:
    """A model with its batch and optimiser."""

    def __init__(self, cell, mode, merged, t, d, h, rank_w, rank_u, classes, batch, language, softmax):
        torch.manual_seed(0)
        if mode == "module":
            body = Module({"gru": nn.GRU, "lstm": nn.LSTM}[cell], d, h, language)
        else:
            body = Loop(cell, merged, t, d, h, rank_w, rank_u, language)
        compiled = mode in ("compile", "autotune")
        self.model = Net(body, d, h, classes, language, "plain" if compiled else softmax)
        self.call = self.model
        if mode == "script":
            body.loop = torch.jit.script(body.loop)
        elif compiled:
            options = {"dynamic": False, "mode": "max-autotune" if mode == "autotune" else None}
            if body.chunk >= t:
                self.call = torch.compile(self.model, **options)
            else:
                body.loop = torch.compile(body.loop, **options)
        if language:
            self.x = torch.randint(classes, (t, batch))
            self.y = torch.randint(classes, (t * batch,))
        else:
            self.x = torch.randn(t, batch, d)
            self.y = torch.randint(classes, (batch,))
        self.optimiser = torch.optim.Adam([p for p in self.model.parameters()], lr=1e-3, fused=True)

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        self.call(self.x, self.y).backward()
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
