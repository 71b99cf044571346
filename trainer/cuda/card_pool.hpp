// SPDX-License-Identifier: Apache-2.0
// Gives RuntimeCard where its memory and its stream of work come from: CUDA's runtime
// (card_pool_runtime.cpp), or LibTorch (card_pool_torch.cpp), so that both in one process share one cache of
// memory. One of the two is linked.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace assay::trainer::cuda {

class CardPool {
public:
    CardPool() = default;
    CardPool(const CardPool&) = delete;
    CardPool& operator=(const CardPool&) = delete;
    virtual ~CardPool() = default;

    /// Null where none could be made.
    [[nodiscard]] virtual cudaStream_t stream() const = 0;
    /// Memory for what is ordered on the stream from now on. Null: there is not enough; `error` is something
    /// else.
    virtual void* allocate(std::uint64_t bytes, cudaError_t& error) = 0;
    /// After what was ordered on the stream so far.
    virtual cudaError_t release(void* at) = 0;
};

/// Of card `number`, which is the calling thread's.
std::unique_ptr<CardPool> make_card_pool(int number);

/// Gives back to card `number`, which is the calling thread's, what pools of this process keep and nobody
/// uses.
void give_back_unused(int number);

}  // namespace assay::trainer::cuda
