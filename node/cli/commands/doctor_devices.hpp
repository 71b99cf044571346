// SPDX-License-Identifier: Apache-2.0
// Gives `assay doctor` its checks of devices: NVIDIA's driver, each card, the result of its
// self-test, and how a worker on it is confined.
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
    std::string fix;  ///< what to do; with `ok`, how to get what is missing but not needed

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
    bool usable = false;                   ///< whether that is the known root

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

/// What this machine refuses of a worker's confinement on this device. Informs only: what a worker computes
/// is the same without it.
DoctorCheck check_confinement(const std::string& device);

/// Checks devices. Each one that `wanted` names (--device; empty: none in particular) must be there and
/// sound. Other cards must be sound if this build has kernels for them; a build without kernels tells what it
/// lacks. kUsage for a malformed list.
base::Outcome<DoctorDevices> examine_devices(const std::string& wanted);

}  // namespace assay::node
