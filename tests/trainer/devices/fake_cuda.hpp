// SPDX-License-Identifier: Apache-2.0
// The folder of the fake driver (fake_driver.cpp), and what it says.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"

namespace assay::test {

/// Where the built libcuda.so.1 lies; CTest says so.
inline std::filesystem::path fake_cuda_folder() {
    const char* folder = std::getenv("ASSAY_FAKE_CUDA_DIR");
    INFO("ASSAY_FAKE_CUDA_DIR names the folder of the fake driver; CTest sets it");
    REQUIRE(folder != nullptr);
    return folder;
}

inline const std::string kTwoCards = "13000;0;NVIDIA H100 PCIe,9,0,81559;NVIDIA GeForce RTX 2080,7,5,8192";
inline const std::string kOneCard = "13000;0;NVIDIA H100 PCIe,9,0,81559";
inline const std::string kOldCard = "13000;0;Tesla V100-SXM2-16GB,7,0,16160";
inline const std::string kOldDriver = "11040;0;NVIDIA H100 PCIe,9,0,81559";

}  // namespace assay::test
