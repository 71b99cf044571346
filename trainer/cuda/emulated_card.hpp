// SPDX-License-Identifier: Apache-2.0
// Gives tests, and whoever doubts the kernels, CudaHostDevice: CudaDevice on an emulated card ("cuda-host").
// Its memory is the host's, but nothing of it is shared: adopted arrays are copies, as on a GPU. Slow; no
// miner works on it.
#pragma once

#include "trainer/cuda/cuda_device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// An emulated card with `threads` of the host.
std::unique_ptr<Card> make_emulated_card(int threads, const StreamOptions& options);

class CudaHostDevice final : public CudaDevice {
public:
    explicit CudaHostDevice(int threads, const StreamOptions& options = {})
        : CudaDevice(make_emulated_card(threads, options)) {}
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
