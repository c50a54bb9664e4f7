"""The PyTorch side of `fastgrnn bench train --device cuda --against torch`: training steps, timed on request.

The argument is the number of the GPU. Speaks JSON lines. At the start it writes {"torch", "cuda", "cudnn"}, which are
versions. Then it answers each request line:

    {"cell", "networks", "t", "d", "h", "classes", "batch", "block", "blocks"}
        -> {"us": [microseconds of a step of all networks, one for each block]}

or {"error": why}, with "ended": true where the process ends after it because the GPU does not answer any more.
`block` is about how many seconds a block takes.

A step is forward, linear head on the last state, softmax cross-entropy and the gradients of the parameters, in float32
and without an optimiser, on random data that is in the GPU's memory. It is captured in a CUDA graph, and the graph is
replayed. Of several networks, each has a stream of its own inside the graph.

`gru` and `lstm` are torch.nn's, which cuDNN runs, with TF32 allowed. `fastgrnn` is a loop over time with full W and U:
the input product of all time steps is computed before it, and the cell is compiled by torch.compile.
"""

import gc
import json
import os
import sys

import torch
from torch import nn

# As often a step runs before it is captured.
WARM_UP = 3


class Cudnn(nn.Module):
    """nn.GRU or nn.LSTM; gives the last state."""

    def __init__(self, cell, d, h):
        super().__init__()
        self.rnn = {"gru": nn.GRU, "lstm": nn.LSTM}[cell](d, h)
        self.is_lstm = cell == "lstm"

    def forward(self, x):
        last = self.rnn(x)[1]
        return (last[0] if self.is_lstm else last)[0]


def fastgrnn_cell(wx, h, u, b, zeta, both):
    """The next state. wx has the bias of the gate; b is the other bias less that one, both is zeta + nu."""
    a = torch.addmm(wx, h, u)
    z = torch.sigmoid(a)
    return torch.addcmul(z * h, both - zeta * z, torch.tanh(a + b))


class FastGrnn(nn.Module):
    """FastGRNN as a loop over a compiled cell; gives the last state."""

    def __init__(self, d, h, batch):
        super().__init__()
        self.w, self.u = (nn.Parameter(n ** -0.5 * torch.randn(n, h)) for n in (d, h))
        self.b_z, self.b_h = nn.Parameter(torch.ones(h)), nn.Parameter(torch.ones(h))
        self.zeta, self.nu = nn.Parameter(torch.tensor([1.0])), nn.Parameter(torch.tensor([-4.0]))
        self.cell = torch.compile(fastgrnn_cell, dynamic=False)
        # It has a gradient as the other states have one, so that the cell is compiled once.
        self.start = torch.zeros(batch, h, device="cuda", requires_grad=True)

    def forward(self, x):
        zeta, nu = torch.sigmoid(self.zeta), torch.sigmoid(self.nu)
        b, both = self.b_h - self.b_z, zeta + nu
        h = self.start
        # unbind, not wx[t]: the gradient of an index is a zero tensor of the whole sequence.
        for wx in (x @ self.w + self.b_z).unbind(0):
            h = self.cell(wx, h, self.u, b, zeta, both)
        return h


class Step:
    """A training step of a network on its own batch."""

    def __init__(self, cell, t, d, h, classes, batch):
        body = FastGrnn(d, h, batch) if cell == "fastgrnn" else Cudnn(cell, d, h)
        self.body, self.head = body.cuda(), nn.Linear(h, classes).cuda()
        self.parameters = [*self.body.parameters(), *self.head.parameters()]
        self.x = torch.randn(t, batch, d, device="cuda")
        self.y = torch.randint(classes, (batch,), device="cuda")
        self.stream = torch.cuda.Stream()
        self.loss, self.gradients = None, None

    def run(self):
        # New gradients each time: nothing is added to those of the step before.
        loss = nn.functional.cross_entropy(self.head(self.body(self.x)), self.y)
        self.gradients = torch.autograd.grad(loss, self.parameters)
        self.loss = loss.detach()


def on_streams(steps):
    """Runs each step on its stream."""
    caller = torch.cuda.current_stream()
    for step in steps:
        step.stream.wait_stream(caller)
    for step in steps:
        with torch.cuda.stream(step.stream):
            step.run()
    for step in steps:
        caller.wait_stream(step.stream)


def capture(steps):
    for _ in range(WARM_UP):
        on_streams(steps)
    torch.cuda.synchronize()
    for step in steps:
        step.loss, step.gradients = None, None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # A single step needs no other stream than that of the capture.
        if len(steps) == 1:
            steps[0].run()
        else:
            on_streams(steps)
    return graph


def replay(graph, count):
    """The milliseconds of some steps."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def times(graph, block, blocks):
    """Microseconds of a step in each block, after replays for twice as long, so that clocks are those of work."""
    wanted, count, warm = 1e3 * block, 1, 0.0
    while True:
        ms = max(replay(graph, count), 1e-6)
        warm += ms
        fit = max(1, -int(-wanted * count // ms))
        if warm >= 2 * wanted:
            break
        count = min(fit, 2 * count)
    return [1e3 * replay(graph, fit) / fit for _ in range(blocks)]


def measure(cell, networks, t, d, h, classes, batch, block, blocks):
    torch.manual_seed(0)
    steps = [Step(cell, t, d, h, classes, batch) for _ in range(networks)]
    graph = capture(steps)
    found = times(graph, block, blocks)
    if not all(torch.isfinite(step.loss).item() for step in steps):
        raise RuntimeError("a loss is not finite")
    return {"us": found}


def clean_up():
    # Loading it takes seconds, and only the compiled cell needs it.
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()


def is_healthy():
    try:
        clean_up()
        torch.cuda.synchronize()
        return torch.ones(8, device="cuda").sum().item() == 8
    except Exception:
        return False


def reason(error):
    """What an error says, and the one before it: the end of a failed capture fails, too."""
    def say(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"

    return say(error) if error.__context__ is None else f"{say(error)} (after {say(error.__context__)})"


def cudnn_version():
    number = torch.backends.cudnn.version()
    if number is None:
        return "none"
    major, rest = divmod(number, 10000 if number >= 90000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def main():
    # Libraries print to stdout, too: keep the protocol's channel to ourselves.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message):
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    try:
        torch.cuda.set_device(int(sys.argv[1]))
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
        torch.zeros(1, device="cuda")
    except Exception as error:
        reply({"error": f"torch {torch.__version__} cannot use the GPU: {reason(error)}", "ended": True})
        return
    reply({"torch": torch.__version__, "cuda": torch.version.cuda or "none", "cudnn": cudnn_version()})
    for line in sys.stdin:
        failure = None
        try:
            answer = measure(**json.loads(line))
        except Exception as error:
            failure = reason(error)
        if failure is None:
            clean_up()
            reply(answer)
            continue
        # The error is gone here, and with it the memory that its frames held.
        ended = not is_healthy()
        reply({"error": failure, "ended": ended})
        if ended:
            return


main()
