// SPDX-License-Identifier: Apache-2.0
// Gives benches the sides of a comparison as processes of this machine: our worker under each target
// or on a device, LibTorch held to one instruction set, PyTorch from the venv of make bench-peers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/worker/bench_run.hpp"

namespace assay::node {

/// A profile on a target of this machine.
struct OurSide {
    std::string profile;  ///< "f32" or "i16"
    std::string target;
};

/// The Python of make bench-peers: ASSAY_PEER_PYTHON, else .venv in the folder above build/bin, where `own`
/// is. Empty when there is none. `stamp`: a file in .venv which shows that all packages of a list are there,
/// since they are installed one after the other (.ci/setup).
std::filesystem::path peer_python(const std::filesystem::path& own, const std::string& stamp);

class BenchSides {
public:
    static base::Outcome<BenchSides> of_this_machine();
    /// Both profiles on a device that is no processor ("cuda:0"), PyTorch on the same card, and one thread of
    /// the host. `memory`: of the device, as ASSAY_DEVICE_MEMORY; empty: the environment's. kPreflight, with
    /// the worker's message, when the device cannot be opened.
    static base::Outcome<BenchSides> of_device(const std::string& device, const std::string& memory);

    /// Pairs to measure, the fastest first: f32 on each vector instruction set that has its own kernels, i16
    /// on every target except the scalar one; only those in ASSAY_TARGETS if it is set.
    [[nodiscard]] const std::vector<OurSide>& f32() const { return f32_; }
    [[nodiscard]] const std::vector<OurSide>& i16() const { return i16_; }
    /// Thread counts for measuring steps: only ASSAY_THREADS when it is set, else 1, and also 2 if the
    /// machine has two processors.
    [[nodiscard]] const std::vector<unsigned>& threads() const { return threads_; }

    /// `work` is the rest of the line after the side's word: "forward 512 128 512".
    [[nodiscard]] BenchSide ours(const OurSide& side, unsigned threads, const std::string& verb,
                                 const std::string& work) const;
    /// LibTorch with the instruction set of `target`.
    [[nodiscard]] BenchSide libtorch(const std::string& target, unsigned threads, const std::string& verb,
                                     const std::string& work) const;
    /// PyTorch; `mode` is a side of torch_peer.py.
    [[nodiscard]] BenchSide pytorch(const std::string& mode, unsigned threads, const std::string& verb,
                                    const std::string& work) const;

private:
    std::filesystem::path worker_;
    std::filesystem::path libtorch_;  ///< empty: a build without LibTorch
    std::filesystem::path python_;    ///< empty: no venv
    std::filesystem::path script_;
    std::vector<OurSide> f32_, i16_;
    std::vector<unsigned> threads_;
    std::string device_;                                                   ///< empty: the processor
    std::vector<std::pair<std::string, std::string>> device_environment_;  ///< environment of our worker on
                                                                           ///< the device
};

}  // namespace assay::node
