// SPDX-License-Identifier: Apache-2.0
// A GPU by CUDA's runtime. Compiled by nvcc alone, to an object: no program links it yet, and no card has run
// it.
#include <cuda_runtime.h>

#include <new>
#include <string>

#include "trainer/cuda/cuda_device.hpp"
#include "trainer/cuda/runtime_card.hpp"

namespace assay::trainer::cuda {

namespace {
class RuntimeCard final : public Card {
public:
    explicit RuntimeCard(int number) : number_(number), name_("cuda:" + std::to_string(number)) {
        note(cudaSetDevice(number_));
        note(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }
    ~RuntimeCard() override {
        if (stream_ != nullptr) note(cudaStreamDestroy(stream_));
    }

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] LaunchStream stream() override {
        note(cudaSetDevice(number_));  // of the calling thread
        return stream_;
    }

    void* allocate(std::uint64_t bytes) override {
        void* at = nullptr;
        const cudaError_t error = cudaMallocAsync(&at, bytes == 0 ? 1 : bytes, stream());
        if (error == cudaErrorMemoryAllocation) {
            static_cast<void>(cudaGetLastError());  // so that later work does not fail by it
            throw std::bad_alloc();
        }
        note(error);
        if (at == nullptr) throw std::bad_alloc();
        return at;
    }
    void release(void* at) override { note(cudaFreeAsync(at, stream())); }
    void zero(void* at, std::uint64_t bytes) override { note(cudaMemsetAsync(at, 0, bytes, stream())); }
    void to_card(void* to, const void* from, std::uint64_t bytes) override {
        note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()));
        note(cudaStreamSynchronize(stream_));
    }
    void to_host(void* to, const void* from, std::uint64_t bytes) override {
        note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()));
        note(cudaStreamSynchronize(stream_));
    }

    [[nodiscard]] base::Outcome<void> check() override {
        note(cudaStreamSynchronize(stream()));
        note(cudaGetLastError());
        if (first_ == cudaSuccess) return {};
        return base::fail(base::ErrorKind::kPreflight,
                          name_ + ": " + cudaGetErrorName(first_) + ": " + cudaGetErrorString(first_),
                          "look at the card and its driver with nvidia-smi; until then use another device");
    }

private:
    // The first error stays: what comes after it is not to be used.
    void note(cudaError_t error) {
        if (first_ == cudaSuccess) first_ = error;
    }
    int number_;
    std::string name_;
    cudaStream_t stream_ = nullptr;
    cudaError_t first_ = cudaSuccess;
};
}  // namespace

base::Outcome<std::unique_ptr<Device>> open_card(int number) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        return base::fail(base::ErrorKind::kPreflight, std::string("CUDA: ") + cudaGetErrorString(error),
                          "install NVIDIA's driver, or use another device");
    }
    if (number < 0 || number >= count) {
        return base::fail(base::ErrorKind::kPreflight,
                          "cuda:" + std::to_string(number) + " is not there: this machine has " +
                              std::to_string(count) + " cards",
                          "use a number below that");
    }
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess ||
        properties.major * 10 + properties.minor < 75) {
        return base::fail(base::ErrorKind::kPreflight,
                          "cuda:" + std::to_string(number) + " is older than compute capability 7.5",
                          "use a card of the Turing generation or later, or another device");
    }
    auto card = std::make_unique<RuntimeCard>(number);
    ASSAY_TRY(card->check());
    return std::unique_ptr<Device>(std::make_unique<CudaDevice>(std::move(card)));
}

int runtime_version() { return CUDART_VERSION; }

}  // namespace assay::trainer::cuda
