// SPDX-License-Identifier: Apache-2.0
// Gives `assay doctor` what it says of devices: NVIDIA's driver, each card, and what the self-test gives on
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/context.hpp"

namespace assay::node {

/// One thing that doctor looked at.
struct DoctorCheck {
    std::string name;
    bool ok = true;
    std::string found;
    std::string fix;  ///< what to do; with `ok`, for whoever wants what is missing

    template <class Visit>
    void fields(Visit& visit) const {
        visit("name", name);
        visit("ok", ok);
        visit("found", found);
        visit("fix", fix);
    }
};

/// A card of this machine.
struct DoctorCard {
    std::string device;  ///< "cuda:0"
    std::string name;
    std::string compute_capability;
    std::uint64_t memory_mib = 0;
    std::optional<std::string> self_test;  ///< the root that it computed
    bool usable = false;                   ///< and that is the known one

    template <class Visit>
    void fields(Visit& visit) const {
        visit("device", device);
        visit("name", name);
        visit("compute_capability", compute_capability);
        visit("memory_mib", memory_mib);
        visit("self_test", self_test);
        visit("usable", usable);
    }
};

struct DoctorDevices {
    std::vector<DoctorCheck> checks;
    std::vector<DoctorCard> cards;
};

/// Of the devices that `wanted` names (--device; empty: none in particular) each must be there and sound.
/// Cards that are not named must be so where this build has kernels for them; a build without tells what it
/// lacks. kUsage for a list that is none.
base::Outcome<DoctorDevices> examine_devices(const std::string& wanted);

}  // namespace assay::node
