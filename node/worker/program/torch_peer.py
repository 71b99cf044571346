#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch as the peer of `assay bench`: prepares a case and times runs of it, by lines on stdin and stdout.

The lines are those of assay-worker --bench (node/worker/program/bench.hpp). Sides of a product: fp32, and bf16 with
binary32 in and out (the conversions count, as our packing does). Sides of a step: eager or compile, fp32 or bf16
autocast: eager-fp32, compile-fp32, eager-bf16, compile-bf16. Of a state: copy, three arrays to pinned memory of the
host. Threads: OMP_NUM_THREADS. ASSAY_PEER_DEVICE names a card ("cuda:0"); fp32 there is cuBLAS' SGEMM, without TF32.
Packages: make bench-peers.
"""
import math
import os
import resource
import sys
import time

import torch
from torch.nn import functional


DEVICE = torch.device(os.environ.get("ASSAY_PEER_DEVICE", "cpu"))


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.proj = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, w = x.shape
        parts = [part.view(n, t, self.heads, w // self.heads).transpose(1, 2)
                 for part in self.qkv(self.ln_1(x)).split(w, dim=2)]
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(n, t, w))
        return x + self.down(functional.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt2(torch.nn.Module):
    def __init__(self, layers, width, heads, context, vocabulary):
        super().__init__()
        self.wte, self.wpe = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = torch.nn.LayerNorm(width)
        for name, parameter in self.named_parameters():
            if parameter.dim() >= 2:
                scale = math.sqrt(2 * layers) if name.endswith(("proj.weight", "down.weight")) else 1.0
                torch.nn.init.normal_(parameter, std=0.02 / scale)

    def forward(self, inputs, targets):
        x = self.wte(inputs) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        logits = self.ln_f(x) @ self.wte.weight.t()
        return functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def product(side, kind, tokens, inner, outer):
    x, weight, dy, head = (torch.randn(*shape, device=DEVICE)
                           for shape in ((tokens, inner), (inner, outer), (tokens, outer), (outer, inner)))
    a, b = {"forward": (x, weight), "input": (dy, weight.t()), "weight": (x.t(), dy),
            "head-input": (dy, head), "head-weight": (dy.t(), x)}[kind]
    if side == "bf16":
        return lambda: (a.bfloat16() @ b.bfloat16()).float()
    out = torch.empty(a.shape[0], b.shape[1], device=DEVICE)
    return lambda: torch.mm(a, b, out=out)


def step(side, layers, width, heads, context, vocabulary, batch):
    mode, precision = side.split("-")
    model = Gpt2(layers, width, heads, context, vocabulary).to(DEVICE)
    loss_of = torch.compile(model) if mode == "compile" else model
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, fused=True)
    tokens = torch.randint(vocabulary, (batch, context + 1), device=DEVICE)
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def run():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=precision == "bf16"):
            loss = loss_of(inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return run


def state(layers, width, heads, context, vocabulary):
    count = sum(parameter.numel() for parameter in Gpt2(layers, width, heads, context, vocabulary).parameters())
    arrays = [torch.rand(count, device=DEVICE) for _ in range(3)]
    host = [torch.empty(count, pin_memory=DEVICE.type == "cuda") for _ in range(3)]

    def run():
        for to, array in zip(host, arrays):
            to.copy_(array, non_blocking=True)

    return run


def prepare(words):
    numbers = [int(word) for word in words if word.isdigit()]
    if words[0] == "gemm":
        work = product(words[1], words[2], *numbers)
    elif words[0] == "state":
        work = state(*numbers)
    else:
        work = step(words[1], *numbers)
    for _ in range(3):  # compiles, and takes its memory
        work()
    finish()
    return work


def finish():
    """A card only takes orders: waits for what it was told."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize(DEVICE)


def peak():
    if DEVICE.type == "cuda":
        return torch.cuda.max_memory_allocated(DEVICE)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(work):
    start = time.perf_counter()
    work()
    finish()
    return time.perf_counter() - start


def main():
    # Whatever a library prints goes to stderr: stdout belongs to the lines.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    torch.set_num_threads(threads)
    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = False
    work = None
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "name":
                answer = f"name PyTorch {torch.__version__.split('+')[0]}"
            elif words[0] == "run":
                answer = "times " + " ".join(f"{timed(work):.9f}" for _ in range(int(words[1])))
            elif words[0] == "peak":
                answer = f"peak {peak()}"
            else:
                work = None
                work = prepare(words)
                answer = "ready"
        except Exception as error:  # the other side prints it and leaves the row out
            answer = "error " + str(error).split("\n")[0]
        replies.write(answer + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
