// SPDX-License-Identifier: Apache-2.0
// Gives benches ScratchFolder, a folder for keys, stores and logs that goes when its owner does.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Move-only.
class ScratchFolder {
public:
    /// A new folder whose name begins so, where the system keeps what is temporary. kFailure when none can be
    /// made.
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
