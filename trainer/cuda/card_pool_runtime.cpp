// SPDX-License-Identifier: Apache-2.0
// Memory and a stream of work by CUDA's runtime.
#include "trainer/cuda/card_pool.hpp"

namespace assay::trainer::cuda {

namespace {
class RuntimePool final : public CardPool {
public:
    RuntimePool() {
        if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess) stream_ = nullptr;
    }
    ~RuntimePool() override {
        if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    }

    [[nodiscard]] cudaStream_t stream() const override { return stream_; }
    void* allocate(std::uint64_t bytes, cudaError_t& error) override {
        void* at = nullptr;
        error = cudaMallocAsync(&at, bytes == 0 ? 1 : bytes, stream_);
        if (error == cudaSuccess) return at;
        if (error == cudaErrorMemoryAllocation) {
            static_cast<void>(cudaGetLastError());  // so that later work does not fail by it
            error = cudaSuccess;
        }
        return nullptr;
    }
    cudaError_t release(void* at) override { return cudaFreeAsync(at, stream_); }

private:
    cudaStream_t stream_ = nullptr;
};
}  // namespace

std::unique_ptr<CardPool> make_card_pool(int) { return std::make_unique<RuntimePool>(); }

// What fails here shows in the next call.
void give_back_unused(int number) {
    cudaMemPool_t pool = nullptr;
    if (cudaDeviceSynchronize() != cudaSuccess) return;
    if (cudaDeviceGetDefaultMemPool(&pool, number) == cudaSuccess)
        static_cast<void>(cudaMemPoolTrimTo(pool, 0));
}

}  // namespace assay::trainer::cuda
