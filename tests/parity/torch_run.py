#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the model of a dump (assay_parity dump) with PyTorch and transformers: the same initial weights, the same
batches, the same AdamW rules. Writes a curve in the format of assay_parity train.

usage: torch_run.py DUMP fp32|bf16 OUT.jsonl [--device cpu|cuda:N] [--products native|binary32]
                    [--state FILE [--save N] [--until STEP]]

bf16 is torch.autocast: parameters, optimizer and losses stay binary32, products are bfloat16. --products binary32
computes those as wide_products.py says, which is what happens by itself on a processor without instructions for
bfloat16, where PyTorch's own take a hundred times as long; native leaves them to PyTorch. --state keeps where the
run is, every N steps (by default as often as held-out losses); a run that finds the file goes on from there. --until
stops after that step.
"""
import argparse
import contextlib
import io
import json
import os
import pickle
import sys
import time

import numpy
import torch

import torch_state
from wide_products import WideProducts


def read_weights(folder, job):
    flat = numpy.fromfile(os.path.join(folder, "weights.bin"), dtype=numpy.float32)
    weights = {}
    for tensor in job["tensors"]:
        size = int(numpy.prod(tensor["shape"]))
        part = flat[tensor["offset"] : tensor["offset"] + size].reshape(tensor["shape"])
        weights[tensor["name"]] = torch.from_numpy(part.copy())
    return weights


def gpt2(job, weights):
    import transformers  # late: it takes seconds, which a refused state need not wait for
    config = transformers.GPT2Config(
        vocab_size=job["vocabulary"], n_positions=job["context"], n_embd=job["width"], n_layer=job["layers"],
        n_head=job["heads"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
        layer_norm_epsilon=job["norm_epsilon"], bos_token_id=None, eos_token_id=None)
    return transformers.GPT2LMHeadModel(config), {"transformer." + name: w for name, w in weights.items()}


def llama(job, weights):
    """Assay keeps q, k, v in one matrix and gate, up in another; transformers has them apart."""
    import transformers
    config = transformers.LlamaConfig(
        vocab_size=job["vocabulary"], max_position_embeddings=job["context"], hidden_size=job["width"],
        num_hidden_layers=job["layers"], num_attention_heads=job["heads"],
        num_key_value_heads=job["kv_heads"], intermediate_size=job["hidden"], attention_dropout=0.0,
        tie_word_embeddings="lm_head.weight" not in weights, use_cache=False, bos_token_id=None,
        eos_token_id=None, rms_norm_eps=job["norm_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": job["rope_theta"]})
    size = job["width"] // job["heads"]
    named = {}
    for name, weight in weights.items():
        name = name if name.startswith("lm_head.") else "model." + name
        if name.endswith("self_attn.qkv_proj.weight"):
            rows = [job["heads"] * size, job["kv_heads"] * size, job["kv_heads"] * size]
            for part, tensor in zip("qkv", weight.split(rows)):
                named[name.replace("qkv_proj", part + "_proj")] = tensor
        elif name.endswith("mlp.gate_up_proj.weight"):
            for part, tensor in zip(("gate", "up"), weight.split(job["hidden"])):
                named[name.replace("gate_up_proj", part + "_proj")] = tensor
        else:
            named[name] = weight
    return transformers.LlamaForCausalLM(config), named


def build(job, weights):
    model, named = {"gpt2": gpt2, "llama": llama}[job["family"]](job, weights)
    own = dict(model.named_parameters())  # a tied head appears once
    if set(own) != set(named):
        sys.exit(f"tensors differ: {sorted(set(own) ^ set(named))}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(named[name])
    return model


def optimizer_of(model, job):
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": job["weight_decay"]},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=job["rate"], betas=tuple(job["betas"]), eps=job["epsilon"])


def loss_of(model, sequences, precision):
    """Mean loss of sequences [n, T+1]; the loss itself is in binary32 in either precision."""
    with torch.autocast(sequences.device.type, torch.bfloat16, enabled=precision == "bf16"):
        logits = model(sequences[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), sequences[:, 1:].flatten())


def held_out_loss(model, sequences, precision, batch):
    with torch.no_grad():
        total = sum(loss_of(model, part, precision).item() * len(part) for part in sequences.split(batch))
    return total / len(sequences)


def device_of(name):
    """The device, if it is there: the tools' own errors speak of CUDA's calls."""
    kind, _, number = name.partition(":")
    if name == "cpu":
        return torch.device("cpu")
    if kind != "cuda" or not number.isdigit():
        sys.exit(f"torch_run.py: device '{name}' is not there\n  fix: use cpu, or cuda:N for an NVIDIA card")
    if not torch.cuda.is_available() or int(number) >= torch.cuda.device_count():
        sys.exit(f"torch_run.py: PyTorch {torch.__version__} finds no card {number} here\n"
                 "  fix: use --device cpu, or a PyTorch with CUDA on a machine with the card and its driver")
    return torch.device(name)


def identity_of(described, precision, device, products):
    return torch_state.identity(described, precision if products == "native" else f"{precision} in {products}",
                                device.type)


def products_of(wanted, precision, device):
    """How the run's products are computed: native or binary32."""
    if precision != "bf16":
        return "native"
    if wanted is None:
        slow = device.type == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
        return "binary32" if slow else "native"
    return wanted


class Run:
    """A run between its first step and its last: what a state keeps of it."""

    def __init__(self, folder, described, precision, device, products):
        self.job, self.precision, self.device = json.loads(described), precision, device
        self.products = WideProducts() if products == "binary32" else contextlib.nullcontext()
        self.words = {"products": products} if products != "native" else {}
        self.identity = identity_of(described, precision, device, products)
        self.batches = self.tokens(os.path.join(folder, "batches.bin")).view(self.job["steps"], self.job["batch"], -1)
        self.held_out = self.tokens(os.path.join(folder, "held_out.bin")).to(device)
        self.model = build(self.job, read_weights(folder, self.job)).to(device)
        self.optimizer = optimizer_of(self.model, self.job)
        self.lines, self.step, self.seconds = [], 0, 0.0

    def tokens(self, path):
        flat = numpy.fromfile(path, dtype=numpy.uint16)
        return torch.from_numpy(flat.astype(numpy.int64)).view(-1, self.job["context"] + 1)

    def begin(self):
        import transformers
        self.lines = [{"run": {
            "family": self.job["family"], "arithmetic": self.precision, "seed": self.job["seed"],
            "steps": self.job["steps"], "batch": self.job["batch"], "context": self.job["context"],
            "parameters": sum(p.numel() for p in self.model.parameters()), "text": self.job["text"],
            "device": str(self.device), "torch": torch.__version__, "transformers": transformers.__version__,
            "threads": torch.get_num_threads(), **self.words}}]
        self.evaluate()

    def evaluate(self):
        with self.products:
            loss = held_out_loss(self.model, self.held_out, self.precision, self.job["batch"])
        self.lines.append({"step": self.step, "held_out": loss})

    def train(self):
        job = self.job
        rate = job["rate"] * min(1.0, (self.step + 1) / job["warmup"]) if job["warmup"] else job["rate"]
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with self.products:
            loss = loss_of(self.model, self.batches[self.step].to(self.device), self.precision)
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), job["clip_norm"])
        self.optimizer.step()
        self.step += 1
        self.lines.append({"step": self.step, "train": loss.item(), "norm": norm.item()})
        if self.step % job["every"] == 0 or self.step == job["steps"]:
            self.evaluate()

    def save(self, path):
        body = {"step": self.step, "seconds": self.seconds, "lines": json.dumps(self.lines),
                "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        payload = io.BytesIO()
        torch.save(body, payload)
        torch_state.write(path, self.identity, payload.getbuffer())

    def load(self, path, payload):
        try:
            body = torch.load(io.BytesIO(payload), map_location=self.device, weights_only=True)
            self.model.load_state_dict(body["model"])
            self.optimizer.load_state_dict(body["optimizer"])
            self.step, self.seconds, self.lines = body["step"], body["seconds"], json.loads(body["lines"])
        except (RuntimeError, ValueError, KeyError, TypeError, pickle.UnpicklingError) as error:
            raise torch_state.StateError(
                f"the state file {path} is whole, but PyTorch {torch.__version__} cannot read it: {error}",
                "go on with the PyTorch that wrote it, or remove it to begin the run anew") from error


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("dump")
    parser.add_argument("precision", choices=("fp32", "bf16"))
    parser.add_argument("out")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--products", choices=("native", "binary32"))
    parser.add_argument("--state")
    parser.add_argument("--save", type=int, default=0)
    parser.add_argument("--until", type=int, default=0)
    options = parser.parse_args()
    if not options.state and (options.save or options.until):
        parser.error("--save and --until need --state FILE, where the run goes on")
    if options.save < 0 or options.until < 0:
        parser.error("--save and --until are numbers of steps")
    if options.products == "binary32" and (options.precision != "bf16" or options.device != "cpu"):
        parser.error("--products binary32 is for bf16 on a processor")
    return options


def follow(run, options, line):
    """Trains to the end, or to where it shall stop; `line` writes what is new. Whether the end was reached."""
    steps, save = run.job["steps"], options.save or run.job["every"]
    until = min(options.until or steps, steps)
    start = time.monotonic() - run.seconds
    if not run.lines:
        run.begin()
    written = 0
    while True:
        for body in run.lines[written:]:
            line(body)
        written = len(run.lines)
        run.seconds = time.monotonic() - start
        if run.step >= until:
            return run.step == steps
        run.train()
        if options.state and run.step < steps and (run.step % save == 0 or run.step == until):
            run.seconds = time.monotonic() - start
            run.save(options.state)


def main():
    options = parse()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.set_float32_matmul_precision("highest")  # no TF32: fp32 is the yardstick
    device = device_of(options.device)
    products = products_of(options.products, options.precision, device)
    with open(os.path.join(options.dump, "job.json"), "rb") as file:
        described = file.read()
    try:
        payload = None
        if options.state and os.path.exists(options.state):
            payload = torch_state.read(options.state, identity_of(described, options.precision, device, products))
        run = Run(options.dump, described, options.precision, device, products)
        if payload is not None:
            run.load(options.state, payload)
    except torch_state.StateError as error:
        sys.exit(f"torch_run.py: {error}")
    with open(options.out, "w", buffering=1) as curve:
        def line(body):
            curve.write(json.dumps(body) + "\n")

        if not follow(run, options, line):
            print(f"torch_run.py: stopped after step {run.step} of {run.job['steps']}; the same command goes on from "
                  f"{options.state}", file=sys.stderr)
            return
        line({"done": run.job["steps"], "seconds": run.seconds})
        os.fsync(curve.fileno())
    torch_state.sync_folder_of(options.out)
    if options.state and os.path.exists(options.state):
        os.remove(options.state)


if __name__ == "__main__":
    main()
