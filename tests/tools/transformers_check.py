#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a model folder with transformers and prints, as JSON, the mean loss on a token file.

usage: transformers_check.py MODEL_DIR TOKENS.bin [--sequences N] [--ids FILE] [--original DIR] [--logits FILE]

Sequences are T+1 tokens at stride T from the start of the file (T = context). --ids names a JSON file
[{"text": …, "ids": […]}, …] made by Assay; every text must give the same ids here. --original names another model
folder: every tensor and the logits of the first sequence must have the same bits. --logits names Assay's logits of the
first sequence as binary32; the largest difference is printed. Exit 1 if ids or bits differ.
With --list FILE instead, a JSON list of such argument lists, a list of reports is printed: importing takes the most time.
Packages: .ci/requirements-test.txt.
"""
import argparse
import json
import sys

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def read_tokens(path):
    header = numpy.fromfile(path, dtype="<i4", count=256)
    forms = {(20240520, 1): "<u2", (20240801, 7): "<u4"}
    form = forms.get((int(header[0]), int(header[1])))
    if form is None:
        sys.exit(f"{path} is not an llm.c token file")
    tokens = numpy.fromfile(path, dtype=form, offset=1024)
    if len(tokens) != header[2]:
        sys.exit(f"{path} has another length than its header says")
    return torch.from_numpy(tokens.astype(numpy.int64))


def same_bits(one, other):
    return one.shape == other.shape and torch.equal(one.contiguous().view(torch.int32),
                                                    other.contiguous().view(torch.int32))


def differences(model, original, tokens, logits):
    """Names of the tensors whose bits differ between the model and the folder `original`."""
    other = AutoModelForCausalLM.from_pretrained(original, dtype=torch.float32)
    other.eval()
    ours, theirs = model.state_dict(), other.state_dict()
    names = sorted(ours.keys() ^ theirs.keys())
    names += [name for name in sorted(ours.keys() & theirs.keys()) if not same_bits(ours[name], theirs[name])]
    if not same_bits(other(tokens.unsqueeze(0)).logits[0], logits):
        names.append("logits")
    return names


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("tokens")
    parser.add_argument("--sequences", type=int, default=0, help="0: all")
    parser.add_argument("--ids")
    parser.add_argument("--original")
    parser.add_argument("--logits")
    return parser.parse_args(words)


def check(options):
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    tokens = read_tokens(options.tokens)
    context = model.config.max_position_embeddings  # n_positions of GPT-2 has this name too
    count = (len(tokens) - 1) // context
    if options.sequences:
        count = min(count, options.sequences)
    total = 0.0
    with torch.no_grad():
        for i in range(count):
            part = tokens[i * context : (i + 1) * context + 1]
            logits = model(part[:-1].unsqueeze(0)).logits[0]
            total += torch.nn.functional.cross_entropy(logits, part[1:], reduction="sum").item()
    # The stream is Assay's: decoded and encoded again here, it must give the same ids.
    border = tokenizer.bos_token_id
    mismatches = []
    run = []
    for token in tokens[: 20000].tolist():
        if token != border:
            run.append(token)
            continue
        if run and tokenizer.encode(tokenizer.decode(run), add_special_tokens=False) != run:
            mismatches.append({"run": len(run)})
        run = []
    for row in json.load(open(options.ids)) if options.ids else []:
        if tokenizer.encode(row["text"], add_special_tokens=False) != row["ids"]:
            mismatches.append(row)
    report = {"loss": total / (count * context), "sequences": count, "tokens": count * context,
              "parameters": model.num_parameters(), "mismatches": mismatches}
    with torch.no_grad():
        first = model(tokens[:context].unsqueeze(0)).logits[0]
        if options.original:
            report["different"] = differences(model, options.original, tokens[:context], first)
    if options.logits:
        ours = torch.from_numpy(numpy.fromfile(options.logits, dtype="<f4")).reshape(first.shape)
        report["largest_logit"] = first.abs().max().item()
        report["logit_difference"] = (ours - first).abs().max().item()
    return report


def main():
    torch.set_num_threads(2)
    if sys.argv[1:2] == ["--list"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            printed = reports = [check(parse(words)) for words in json.load(file)]
    else:
        printed = check(parse(sys.argv[1:]))
        reports = [printed]
    print(json.dumps(printed))
    return 1 if any(report["mismatches"] or report.get("different") for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
