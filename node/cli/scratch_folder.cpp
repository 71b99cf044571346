// SPDX-License-Identifier: Apache-2.0
#include "node/cli/scratch_folder.hpp"

#include <cstdlib>
#include <system_error>

namespace assay::node {

base::Outcome<ScratchFolder> ScratchFolder::make(const std::string& name) {
    std::string path = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) {
        return base::fail(base::ErrorKind::kFailure, "cannot make the folder " + path,
                          "set TMPDIR to a folder with a gigabyte of room");
    }
    return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay::node
