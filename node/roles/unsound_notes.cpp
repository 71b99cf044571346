// SPDX-License-Identifier: Apache-2.0
#include "node/roles/unsound_notes.hpp"

#include <algorithm>

#include "contracts/base/bytes.hpp"

namespace assay::node {

namespace {

constexpr std::string_view kKind = "unsound-";

// Names of files have no colon: the device's own name is what the file holds.
std::string note_of(const std::string& device) {
    std::string name = std::string(kKind) + device;
    std::replace(name.begin(), name.end(), ':', '-');
    return name;
}

}  // namespace

base::Outcome<void> note_unsound(DiskPort& disk, const std::string& device) {
    return disk.write(note_of(device), base::as_bytes(device));
}

base::Outcome<std::vector<std::string>> noted_unsound(DiskPort& disk) {
    ASSAY_ASSIGN(const std::vector<std::string> names, disk.names(kKind));
    std::vector<std::string> devices;
    for (const std::string& name : names) {
        ASSAY_ASSIGN(const auto device, disk.read(name));
        if (device) devices.emplace_back(device->begin(), device->end());
    }
    return devices;
}

base::Outcome<void> remove_unsound_note(DiskPort& disk, const std::string& device) {
    return disk.remove(note_of(device));
}

}  // namespace assay::node
