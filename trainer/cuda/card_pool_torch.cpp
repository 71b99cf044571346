// SPDX-License-Identifier: Apache-2.0
// Memory from LibTorch's caching allocator and a stream of LibTorch's pool, for builds whose LibTorch has
// CUDA. It was compiled to an object; no card has run it.
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/card_pool.hpp"

namespace assay::trainer::cuda {

namespace {
class TorchPool final : public CardPool {
public:
    explicit TorchPool(c10::DeviceIndex number) : stream_(c10::cuda::getStreamFromPool(false, number)) {
        // What LibTorch works on in this thread is ordered with ours.
        c10::cuda::setCurrentCUDAStream(stream_);
    }

    [[nodiscard]] cudaStream_t stream() const override { return stream_.stream(); }
    void* allocate(std::uint64_t bytes, cudaError_t& error) override {
        error = cudaSuccess;
        try {
            return c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(bytes == 0 ? 1 : bytes,
                                                                          stream_.stream());
        } catch (const c10::OutOfMemoryError&) {
            return nullptr;
        } catch (const c10::Error&) {
            error = cudaErrorUnknown;
            return nullptr;
        }
    }
    cudaError_t release(void* at) override {
        // The block belongs to its stream: who gets it next orders after us.
        try {
            c10::cuda::CUDACachingAllocator::raw_delete(at);
        } catch (const c10::Error&) {
            return cudaErrorUnknown;
        }
        return cudaSuccess;
    }

private:
    c10::cuda::CUDAStream stream_;
};
}  // namespace

std::unique_ptr<CardPool> make_card_pool(int number) {
    try {
        // LibTorch does so when its first tensor comes to a card; none of ours does.
        c10::cuda::CUDACachingAllocator::init(c10::cuda::device_count());
        return std::make_unique<TorchPool>(static_cast<c10::DeviceIndex>(number));
    } catch (const c10::Error&) {
        return nullptr;
    }
}

// What fails here shows in the next call.
void give_back_unused(int) {
    try {
        c10::cuda::CUDACachingAllocator::init(c10::cuda::device_count());
        c10::cuda::CUDACachingAllocator::emptyCache();
    } catch (const c10::Error&) {
    }
}

}  // namespace assay::trainer::cuda
