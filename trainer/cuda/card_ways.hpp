// SPDX-License-Identifier: Apache-2.0
// CardWays says in which ways a card does its work. Tests, the self-test and benches choose other ways than
// usual. No bit depends on them.
#pragma once

namespace assay::trainer::cuda {

struct CardWays {
    /// Multiprocessors for which products are planned (kernels/split_k.hpp); 0: as many as the card has.
    /// Tests and the self-test name a number, so that small products take the code paths of large ones, and
    /// short rows of logits that of long ones (loss_blocks.hpp).
    unsigned processors = 0;
    /// Attention of profile i16 recomputes its squares wherever they are needed instead of storing them
    /// (attention_i16.hpp), if the card has the shared memory for that.
    bool fused_attention = true;
    /// Tiles of large products that are left over are cut along k (kernels/split_k.hpp).
    bool cut_products = true;
};

}  // namespace assay::trainer::cuda
