// SPDX-License-Identifier: Apache-2.0
// Gives whoever opens or lists devices what there is of NVIDIA's cards and driver on this machine, and what
// is missing for one to compute. It asks the driver's library itself, so that a build without CUDA knows too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Where the cards of a machine show. Tests name other places.
struct CardPlaces {
    std::string library = "libcuda.so.1";  ///< of the driver, as dlopen takes it
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
    std::string start;     ///< why the driver does not start: CUDA's name of the error; empty: it starts
    std::vector<FoundCard> cards;  ///< by the number in their device's name
};

/// Loads the driver's library into this process and starts it. No other state is changed.
CardSurvey survey_cards(const CardPlaces& places = {});

/// What a build brings for cards.
struct CardBuild {
    bool kernels = false;  ///< built with ASSAY_CUDA
    /// CUDA's runtime that is linked, as CardSurvey::cuda counts; else the oldest that can be.
    int runtime = 12000;
    /// ASSAY_CUDA_ARCHITECTURES, between spaces ("75 80 90a"); empty: not known.
    std::string_view architectures = {};
};
CardBuild card_build();

/// kPreflight, naming the first thing that is missing, and what to do: for any card at all; for card
/// `number`.
base::Outcome<void> check_driver(const CardSurvey& survey, const CardBuild& build);
base::Outcome<void> check_card(const CardSurvey& survey, const CardBuild& build, int number);

/// "13.0" of 13000.
std::string cuda_text(int cuda);

/// The number of "cuda:N"; nothing for another word.
std::optional<int> card_number(std::string_view device);

}  // namespace assay::trainer
