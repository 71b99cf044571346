// SPDX-License-Identifier: Apache-2.0
// Gives a simulated world its files: each content is hashed and kept once, however many parties and workers
// have it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::node::sim {

/// Bytes and their id. They never change.
struct SharedFile {
    base::Hash256 id;
    base::Bytes bytes;
};
using FileRef = std::shared_ptr<const SharedFile>;

/// Not thread-safe: one for each world.
class SharedFiles {
public:
    static FileRef of(base::Bytes bytes);
    /// A descriptor of the file. kFailure when this machine has no descriptor or memory left.
    base::Outcome<worker::SharedDescriptor> open(const FileRef& file);
    /// The file for which open() gave this descriptor, or for any other descriptor its content. kFailure when
    /// it cannot be read.
    base::Outcome<FileRef> behind(const worker::SharedDescriptor& descriptor);

private:
    struct GivenFile {
        std::weak_ptr<const worker::Descriptor> descriptor;  ///< expired: another descriptor may have its
                                                             ///< address
        FileRef file;
    };
    void forget_closed();

    std::map<const worker::Descriptor*, GivenFile> opened_;
    std::map<base::Hash256, std::weak_ptr<const worker::Descriptor>> by_id_;
    std::deque<worker::SharedDescriptor> last_;  ///< kept open: most files are opened again soon
    std::size_t forget_at_ = 1'024;
};

}  // namespace assay::node::sim
