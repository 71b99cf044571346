// SPDX-License-Identifier: Apache-2.0
// CardWays says in which ways a card does its work. Tests, the self-test and benches choose other ways than
// usual. No bit depends on them.
#pragma once

namespace assay::trainer::cuda {

struct CardWays {
    /// Products are planned for so many processors (kernels/split_k.hpp); 0: for those that the card has.
    /// When a number is given, small products go the ways of large ones.
    unsigned processors = 0;
    /// Attention of profile i16 makes its squares again instead of storing them (attention_i16.hpp), if the
    /// card has the shared memory for it.
    bool fused_attention = true;
    /// Tiles of large products that are left over are cut along k (kernels/split_k.hpp).
    bool cut_products = true;
};

}  // namespace assay::trainer::cuda
