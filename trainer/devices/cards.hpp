// SPDX-License-Identifier: Apache-2.0
// Finds NVIDIA's cards and driver on this machine, and what is missing for a card to compute. It asks the
// driver's library directly, so it works in a build without CUDA, too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Places where the cards of a machine are found. Tests name other places.
struct CardPlaces {
    std::string library = "libcuda.so.1";  ///< the driver's library, as dlopen takes it
    std::filesystem::path bus = "/sys/bus/pci/devices";
    std::filesystem::path module = "/proc/driver/nvidia/version";
};

struct FoundCard {
    std::string name;  ///< as the driver calls it
    int major = 0;     ///< compute capability
    int minor = 0;
    std::uint64_t memory = 0;  ///< bytes
};

struct CardSurvey {
    unsigned on_bus = 0;   ///< display controllers of NVIDIA on the PCI bus, whether or not there is a driver
    std::string module;    ///< version of the loaded kernel module ("580.82.07"); empty: none
    bool library = false;  ///< the driver's library is there and has the functions that are needed
    int cuda = 0;          ///< the newest CUDA that the driver runs, 13000 for 13.0; 0: not known
    std::string start;  ///< CUDA's name of the error with which the driver fails to start; empty: it starts
    std::vector<FoundCard> cards;  ///< by the number in their device's name
};

/// Loads the driver's library into this process and starts it. No other state is changed.
CardSurvey survey_cards(const CardPlaces& places = {});

/// What a build can do on cards.
struct CardBuild {
    bool kernels = false;  ///< built with ASSAY_CUDA
    /// Version of the linked CUDA runtime, in the unit of CardSurvey::cuda; without one, the oldest that can
    /// be linked.
    int runtime = 12000;
    /// ASSAY_CUDA_ARCHITECTURES, separated by spaces ("75 80 90a"); empty: not known.
    std::string_view architectures = {};
};
CardBuild card_build();

/// Both fail with kPreflight, naming the first thing that is missing and what to do: check_driver for any
/// card at all, check_card for card `number`.
base::Outcome<void> check_driver(const CardSurvey& survey, const CardBuild& build);
base::Outcome<void> check_card(const CardSurvey& survey, const CardBuild& build, int number);

/// A CUDA version as people write it: "13.0" for 13000.
std::string cuda_text(int cuda);

/// The number of "cuda:N"; nothing for another word.
std::optional<int> card_number(std::string_view device);

}  // namespace assay::trainer
