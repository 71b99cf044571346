#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face `tokenizers` as the judge of Assay's.

usage: tokenizers_check.py make DIR     trains tokenizers of every kind that Assay reads: DIR/KIND/tokenizer.json, and
                                        DIR/KIND/cases.json, what they make of awkward texts, and sweep.json, of
                                        every character of many scripts (a list of [text, ids])
       tokenizers_check.py check DIR    loads DIR/KIND/ours.json, as Assay wrote it: the cases must come out the same

A case: text, ids (special tokens recognised), plain_ids (special tokens as text), decoded (of ids, hexadecimal UTF-8).
"""
import json
import os
import sys

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")

TEXTS = [
    "", " ", "   ", "\n", "\r\n\r\n", " \n \n x", "\t\tx\t", "x   y\n\n\nz ", "trailing   ", "   leading",
    "Hello world, it's  42!\n\n x", "They'LL WE'VE I'D I'm 's 'S 't'T x'\u017f y'\u017fz ''s '''re",
    "1 12 123 1234 12345 1234567 3.14159 1,000,000 0x1F 1\u00bd\u2167 \u0661\u0662\u0663\u0664 "
    "\u0967\u0968\u0969\u096a",
    "caf\u00e9 cafe\u0301 na\u00efve nai\u0308ve \u00c5ngstr\u00f6m A\u030angstro\u0308m \u212bngstrom",
    "q\u0323\u0307 q\u0307\u0323 \u1e9b\u0323 \u0958 \u0915\u093c \u0340\u0341 \u0344",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3002\u304b\u3099",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01\u3000wide",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0645\u064e\u0631\u0652\u062d\u064e\u0628\u064b\u0627",
    "\u05e9\u05c1\u05dc\u05d5\u05b9\u05dd", "\u0939\u093f\u0928\u094d\u0926\u0940 \u092a\u093e\u0920",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e01\u0e33",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0419\u0438\u0306",
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u03ac\u1f71",
    "\U0001F469\u200d\U0001F680 emoji \U0001F3F3\ufe0f\u200d\U0001F308 \U0001F1E9\U0001F1EA\U0001F44D\U0001F3FD!?",
    "a\u180eb \u00a0\u2003 \u1680\u2028\u2029\u202f\u205f\u3000x\u0085nel\u000b\u000c\u001c\u001f",
    "a\u200bb\ufeffc\u00adx", "if (x == 0) {\n\treturn a->b[i++];  // why?\r\n}\r\n\n",
    "http://a.b/c?d=e&f=%20#g user@mail.org ~/x_y-z",
    "!!!???...---___ ((())) \u2026\u2014\u201cquoted\u201d \u20ac100 \u00a35 \u00b12\u00b0",
    "\u0000\u0001\u007f\u0080", "<|endoftext|>In the beginning<|endoftext|><|end",
    "a <mark>b</mark> <mark><mark2>c <MARK>", "\u0438\u0306x \u0439x \u0439",
    "<|begin_of_text|>x<|eot_id|> y <|eot_id|", "begatness" * 50, "ab" * 700, "\u00e9" * 300, "word " * 40,
    "\U0010ffff\ue000",
]


def sweep():
    """Every character of the blocks where scripts, numbers, marks and spaces are many, in each kind of company."""
    for first, last in [(0x00, 0x3400), (0xa000, 0xac40), (0xf900, 0x10000), (0x10000, 0x11000), (0x1d100, 0x1d800),
                        (0x1f000, 0x1fb00), (0x2f800, 0x2fa20)]:
        for start in range(first, last, 512):
            points = [chr(p) for p in range(start, min(start + 512, last)) if not 0xd800 <= p <= 0xdfff]
            yield "".join(f"a{c}b 1{c}2 {c}{c}\n" for c in points)


def corpus():
    words = ("In the beginning there was the word, and it's what they've begat. 1234567 caf\u00e9 "
             "na\u00efve r\u00e9sum\u00e9 \u041f\u0440\u0438\u0432\u0435\u0442 \u4f60\u597d "
             "\u0627\u0644\u0639 \U0001F680\n")
    return [words * 3 + f"Verse {i * 37}: {'begat ' * (i % 5)}\tend.\n\n" for i in range(60)]


def make_tokenizer(kind):
    tokenizer = Tokenizer(models.BPE(ignore_merges="ignore" in kind))
    if "nfc" in kind:
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC()]) if "sequence" in kind else normalizers.NFC()
    if "llama" in kind:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(LLAMA3), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=420, special_tokens=[] if "llama" in kind else ["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    if "llama" in kind:
        tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"])
        begin = tokenizer.token_to_id("<|begin_of_text|>")
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<|begin_of_text|> $A",
                                          pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                                          special_tokens=[("<|begin_of_text|>", begin)])])
    if "added" in kind:
        tokenizer.add_tokens([AddedToken("<mark>", normalized=False), AddedToken("<mark><mark2>", normalized=False),
                              AddedToken("\u0438\u0306x", normalized=True), AddedToken("  ", normalized=False)])
        tokenizer.add_special_tokens(["</mark>"])
    return tokenizer


SWEPT = ["gpt2", "llama-nfc-sequence-ignore-added"]
KINDS = ["gpt2", "gpt2-nfc-added", "llama", "llama-ignore-added", "llama-nfc-sequence-ignore-added", "gpt2-texts"]


def cases(tokenizer, texts):
    out = []
    for text in texts:
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        out.append({"text": text, "ids": ids, "plain_ids": plain, "decoded": decoded.encode().hex(),
                    "around": tokenizer.encode(text).ids})
    return out


def make(folder):
    for kind in KINDS:
        tokenizer = make_tokenizer(kind)
        os.makedirs(os.path.join(folder, kind))
        path = os.path.join(folder, kind, "tokenizer.json")
        tokenizer.save(path, pretty=False)
        if "texts" in kind:  # as tokenizers wrote merges until 0.20
            with open(path, encoding="utf-8") as file:
                root = json.load(file)
            root["model"]["merges"] = [" ".join(pair) for pair in root["model"]["merges"]]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(root, file)
            tokenizer = Tokenizer.from_file(path)
        with open(os.path.join(folder, kind, "cases.json"), "w", encoding="utf-8") as file:
            json.dump(cases(tokenizer, TEXTS), file)
        if kind in SWEPT:
            with open(os.path.join(folder, kind, "sweep.json"), "w", encoding="utf-8") as file:
                json.dump([[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in sweep()], file)


def check(folder):
    different = 0
    for kind in KINDS:
        tokenizer = Tokenizer.from_file(os.path.join(folder, kind, "ours.json"))
        with open(os.path.join(folder, kind, "cases.json"), encoding="utf-8") as file:
            wanted = json.load(file)
        for want, got in zip(wanted, cases(tokenizer, [case["text"] for case in wanted])):
            if want != got:
                print(f"{kind}: {want['text'][:60]!r} comes out otherwise")
                different += 1
    return 1 if different else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    sys.exit(make(sys.argv[2]) if sys.argv[1] == "make" else check(sys.argv[2]))
