#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tokenizer.json and ids.json beside this file with Hugging Face tokenizers 0.23.3."""
import json
import os

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["Hello world, it's  42!\n\n x", "a\u180eb \u00a0\u2003 caf\u00e9 na\u00efve",
         "\U0001F469\u200d\U0001F680 emoji \U0001F3F3\ufe0f ", "\t\r\n  tabs\u0085nel\u3000wide",
         "<|endoftext|>In the beginning<|endoftext|>", "They'LL we've I'd 1\u00bd\u2167 \u4f60\u597d \u0627\u0644",
         "", " ", "   ", "x   y\n\n\nz ", "\u001c\u001f a\u200bb\ufeffc \u2028\u2029 q", "begatness" * 50]

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
text = "".join(f"Verse {i}: In the beginning there was the word, and it's what they've begat.\n" for i in range(50))
tokenizer.train_from_iterator([text], trainers.BpeTrainer(
    vocab_size=320, special_tokens=["<|endoftext|>"], show_progress=False,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.save(os.path.join(HERE, "tokenizer.json"), pretty=False)
with open(os.path.join(HERE, "ids.json"), "w") as out:
    json.dump([{"text": t, "ids": tokenizer.encode(t).ids} for t in TEXTS], out)
