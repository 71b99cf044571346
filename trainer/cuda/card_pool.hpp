// SPDX-License-Identifier: Apache-2.0
// CardPool is the source of RuntimeCard's memory and of its stream of work: CUDA's runtime
// (card_pool_runtime.cpp), or LibTorch (card_pool_torch.cpp), so that RuntimeCard and LibTorch in one process
// share one cache of memory. One of the two files is linked.
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

    /// The stream of work; null when none could be made.
    [[nodiscard]] virtual cudaStream_t stream() const = 0;
    /// Allocates memory for work that is ordered on the stream from now on. Null when there is not enough;
    /// `error` tells of any other failure.
    virtual void* allocate(std::uint64_t bytes, cudaError_t& error) = 0;
    /// Frees memory, after the work that was ordered on the stream so far.
    virtual cudaError_t release(void* at) = 0;
};

/// Makes the pool of card `number`. REQUIRES that this is the calling thread's current card.
std::unique_ptr<CardPool> make_card_pool(int number);

/// Gives memory that this process's pools keep unused back to card `number`. REQUIRES that this is the
/// calling thread's current card.
void give_back_unused(int number);

}  // namespace assay::trainer::cuda
