#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves small random models of both families, as transformers writes them, with their tokenizers.

usage: transformers_make.py DIR      makes DIR/gpt2, gpt2-bare (names without prefix, masks saved along), llama-tied,
                                     llama-untied (shards) and llama-bf16
Every parameter is random, gains and biases too, so that none of them can be missed.
"""
import os
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tokenizers_check import make_tokenizer


def randomised(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            gain = parameter.dim() == 1 and name.endswith("weight")
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.15 + (1.0 if gain else 0.0))
    return model


def save(folder, model, tokenizer, begin, end, **options):
    model.save_pretrained(folder, **options)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token=end).save_pretrained(folder)


def llama(tokenizer, **options):
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=32, intermediate_size=72, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32, rope_theta=50000.0,
        bos_token_id=tokenizer.token_to_id("<|begin_of_text|>"), eos_token_id=tokenizer.token_to_id("<|end_of_text|>"),
        attn_implementation="eager", **options))


def main(root):
    gpt2 = make_tokenizer("gpt2")
    end = gpt2.token_to_id("<|endoftext|>")
    model = randomised(GPT2LMHeadModel(GPT2Config(
        vocab_size=gpt2.get_vocab_size(), n_positions=32, n_embd=32, n_layer=2, n_head=4, bos_token_id=end,
        eos_token_id=end)), 1)
    for name in ("gpt2", "gpt2-bare"):
        save(os.path.join(root, name), model, gpt2, "<|endoftext|>", "<|endoftext|>")
    path = os.path.join(root, "gpt2-bare", "model.safetensors")
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in load_file(path).items()}
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 32, 32, dtype=torch.bool)
    save_file(tensors, path, metadata={"format": "pt"})

    three = make_tokenizer("llama-ignore-added")
    names = ("<|begin_of_text|>", "<|end_of_text|>")
    save(os.path.join(root, "llama-tied"), randomised(llama(three, tie_word_embeddings=True), 2), three, *names)
    untied = randomised(llama(three, tie_word_embeddings=False, rms_norm_eps=1e-5), 3)
    save(os.path.join(root, "llama-untied"), untied, three, *names, max_shard_size="40KB")
    save(os.path.join(root, "llama-bf16"), untied.to(torch.bfloat16), three, *names)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
