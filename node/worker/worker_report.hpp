// SPDX-License-Identifier: Apache-2.0
// Gives doctor and the choice of devices what assay-worker reports about this machine when it runs by itself:
// its NVIDIA cards, the result of a device's self-test, and what a worker lacks of its confinement. Only that
// child loads a driver's library, never a process that holds keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "node/worker/worker_process.hpp"

namespace assay::node {

/// A card as the driver lists it.
struct ListedCard {
    std::string device;                  ///< the word that opens it, "cuda:0"
    std::string name;                    ///< "NVIDIA H100 PCIe"
    std::string capability;              ///< compute capability, "9.0"
    std::uint64_t memory = 0;            ///< bytes
    std::optional<base::Error> missing;  ///< why the worker cannot compute on it; nothing when it can
};

struct CardReport {
    unsigned on_bus = 0;                 ///< NVIDIA's display controllers on the PCI bus
    std::string driver;                  ///< version of the kernel module; empty: not loaded
    std::string cuda;                    ///< the newest CUDA that the driver runs; empty: no driver
    bool kernels = false;                ///< the worker was built with kernels for cards
    std::optional<base::Error> missing;  ///< why the worker can use no card at all
    std::vector<ListedCard> cards;
};

/// kNotFound without a worker program; kFailure when it prints something else.
base::Outcome<CardReport> list_cards(const WorkerOptions& options);
/// Parses what the program prints.
base::Outcome<CardReport> parse_cards(const std::string& lines);

/// What this machine refuses of the confinement of a worker on `options.device`, each with its fix; nothing:
/// the worker is confined whole. Errors: the worker's own when it cannot confine itself at all; kFailure when
/// it prints something else.
base::Outcome<std::vector<base::Error>> list_lacks(const WorkerOptions& options);

/// Default patience with a self-test, which takes seconds on a slow processor.
inline constexpr std::chrono::minutes kSelfTestPatience{5};

struct SelfTestReport {
    std::string root;     ///< in hexadecimal
    bool sound = false;   ///< `root` is the known one
    std::string differs;  ///< if not sound, where the device departs from the law: "operator h.0.… of a step
                          ///< of gpt2 in f32"
};

/// Runs the self-test of `options.device` on the target in `options.targets`, in its own process. Errors: the
/// worker's own when the device is not there; kPreflight when the process hangs (HangDetector: it
/// uses `patience` of processor time for each thread, or none for `patience`) or ends without a result;
/// kFailure when it neither ends nor hangs for an hour; kInterrupted when stopped; kNotFound without a worker
/// program.
base::Outcome<SelfTestReport> run_self_test(const WorkerOptions& options, const std::stop_token& stop = {},
                                            std::chrono::milliseconds patience = kSelfTestPatience);

}  // namespace assay::node
