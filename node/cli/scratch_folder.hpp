// SPDX-License-Identifier: Apache-2.0
// Gives benches ScratchFolder, a folder for keys, stores and logs that is removed with its owner.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Move-only.
class ScratchFolder {
public:
    /// Makes a new folder whose name begins with `name` in the system's temporary folder. kFailure when none
    /// can be made.
    static base::Outcome<ScratchFolder> make(const std::string& name);
    ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace assay::node
