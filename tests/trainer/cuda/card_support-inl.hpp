// SPDX-License-Identifier: Apache-2.0
// Gives tests of kernels, where nvcc compiles them, a card in place of the emulation: vectors in memory that
// host and card share, and the names of the emulation that they use. ASSAY_TEST_CARD names the card
// ("cuda:0").
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace test {
inline void require_card(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// The card of ASSAY_TEST_CARD, once.
inline void use_test_card() {
    static const bool chosen = [] {
        const char* const named = std::getenv("ASSAY_TEST_CARD");
        const std::string word = named != nullptr ? named : "cuda:0";
        require_card(cudaSetDevice(std::atoi(word.substr(word.find(':') + 1).c_str())));
        return true;
    }();
    static_cast<void>(chosen);
}
}  // namespace test

/// Memory that host and card share: the host may touch it after settle().
template <class T>
struct CardAllocator {
    using value_type = T;
    CardAllocator() = default;
    template <class U>
    CardAllocator(const CardAllocator<U>&) {}
    T* allocate(std::size_t count) {
        test::use_test_card();
        void* at = nullptr;
        test::require_card(cudaMallocManaged(&at, count * sizeof(T) + 1));
        return static_cast<T*>(at);
    }
    void deallocate(T* at, std::size_t) {
        static_cast<void>(cudaDeviceSynchronize());
        static_cast<void>(cudaFree(at));
    }
    friend bool operator==(const CardAllocator&, const CardAllocator&) { return true; }
};

// A card has an order of its own, and finds no broken rules.
struct NoFaults {
    [[nodiscard]] bool any() const { return false; }
    [[nodiscard]] std::string to_text() const { return {}; }
};
class CardStream {
public:
    CardStream() { test::use_test_card(); }
    operator LaunchStream() const { return nullptr; }
    [[nodiscard]] NoFaults faults() const { return {}; }
};

namespace test {
/// Waits for the card, whose memory the host may look at then.
inline void settle() {
    require_card(cudaDeviceSynchronize());
    require_card(cudaGetLastError());
}
}  // namespace test

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
