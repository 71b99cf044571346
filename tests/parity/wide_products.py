# SPDX-License-Identifier: Apache-2.0
"""bfloat16 products on a processor without instructions for them: numbers of bfloat16 are multiplied and added up in
binary32, and each result is rounded to bfloat16 once. That is what processors and cards with such instructions
compute, but for the order of sums; PyTorch's own way on other processors gives such numbers too, at a hundredth of
the speed. Of attention, PyTorch rounds probabilities to bfloat16 before it multiplies them with values; here they
stay in binary32."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

aten = torch.ops.aten
PRODUCTS = {aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default,
            aten._scaled_dot_product_flash_attention_for_cpu.default,
            aten._scaled_dot_product_flash_attention_for_cpu_backward.default}
# Of names of products. None may be left to PyTorch unseen.
PRODUCT_WORDS = ("mm", "linear", "attention", "convolution", "einsum", "dot")
BINARY32_RESULTS = {aten._scaled_dot_product_flash_attention_for_cpu.default: {1}}  # sums of exponentials


def is_bf16(value):
    return isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16


class WideProducts(TorchDispatchMode):
    """Within it products of bfloat16 numbers are computed so, forward and backward; `count` counts them."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = any(map(is_bf16, tree_flatten((args, kwargs))[0]))
        if function not in PRODUCTS or not given:
            if given and any(word in str(function) for word in PRODUCT_WORDS):
                raise NotImplementedError(f"PyTorch {torch.__version__} multiplies bfloat16 by {function}, which "
                                          "wide_products.py does not know")
            return function(*args, **kwargs)
        self.count += 1

        def widened(value):
            return value.float() if is_bf16(value) else value

        results = function(*tree_map(widened, args), **tree_map(widened, kwargs))
        if isinstance(results, torch.Tensor):
            return results.bfloat16()
        kept = BINARY32_RESULTS.get(function, set())
        return tuple(r if i in kept or not isinstance(r, torch.Tensor) else r.bfloat16() for i, r in enumerate(results))
