#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the model of a dump (assay_parity dump) with PyTorch and transformers: the same initial weights, the same
batches, the same AdamW rules. Writes a curve in the format of assay_parity train.

usage: torch_run.py DUMP fp32|bf16 OUT.jsonl

bf16 is torch.autocast: parameters, optimizer and losses stay binary32, products are bfloat16.
"""
import json
import os
import sys
import time

import numpy
import torch
import transformers


def read_weights(folder, job):
    flat = numpy.fromfile(os.path.join(folder, "weights.bin"), dtype=numpy.float32)
    weights = {}
    for tensor in job["tensors"]:
        size = int(numpy.prod(tensor["shape"]))
        part = flat[tensor["offset"] : tensor["offset"] + size].reshape(tensor["shape"])
        weights[tensor["name"]] = torch.from_numpy(part.copy())
    return weights


def gpt2(job, weights):
    config = transformers.GPT2Config(
        vocab_size=job["vocabulary"], n_positions=job["context"], n_embd=job["width"], n_layer=job["layers"],
        n_head=job["heads"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
        layer_norm_epsilon=job["norm_epsilon"], bos_token_id=None, eos_token_id=None)
    return transformers.GPT2LMHeadModel(config), {"transformer." + name: w for name, w in weights.items()}


def llama(job, weights):
    """Assay keeps q, k, v in one matrix and gate, up in another; transformers has them apart."""
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
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        logits = model(sequences[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), sequences[:, 1:].flatten())


def held_out_loss(model, sequences, precision, batch):
    with torch.no_grad():
        total = sum(loss_of(model, part, precision).item() * len(part) for part in sequences.split(batch))
    return total / len(sequences)


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in ("fp32", "bf16"):
        sys.exit(__doc__)
    folder, precision, out = sys.argv[1:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with open(os.path.join(folder, "job.json")) as file:
        job = json.load(file)
    stride = job["context"] + 1
    batches = numpy.fromfile(os.path.join(folder, "batches.bin"), dtype=numpy.uint16)
    batches = torch.from_numpy(batches.astype(numpy.int64)).view(job["steps"], job["batch"], stride)
    held_out = numpy.fromfile(os.path.join(folder, "held_out.bin"), dtype=numpy.uint16)
    held_out = torch.from_numpy(held_out.astype(numpy.int64)).view(-1, stride)
    model = build(job, read_weights(folder, job))
    optimizer = optimizer_of(model, job)
    with open(out, "w", buffering=1) as curve:
        def line(body):
            curve.write(json.dumps(body) + "\n")

        line({"run": {"family": job["family"], "arithmetic": precision, "seed": job["seed"],
                      "steps": job["steps"], "batch": job["batch"], "context": job["context"],
                      "parameters": sum(p.numel() for p in model.parameters()),
                      "torch": torch.__version__, "transformers": transformers.__version__,
                      "threads": torch.get_num_threads()}})
        start = time.monotonic()
        line({"step": 0, "held_out": held_out_loss(model, held_out, precision, job["batch"])})
        for step in range(job["steps"]):
            rate = job["rate"] * min(1.0, (step + 1) / job["warmup"]) if job["warmup"] else job["rate"]
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            loss = loss_of(model, batches[step], precision)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), job["clip_norm"])
            optimizer.step()
            line({"step": step + 1, "train": loss.item(), "norm": norm.item()})
            if (step + 1) % job["every"] == 0 or step + 1 == job["steps"]:
                line({"step": step + 1, "held_out": held_out_loss(model, held_out, precision, job["batch"])})
        line({"done": job["steps"], "seconds": time.monotonic() - start})


if __name__ == "__main__":
    main()
