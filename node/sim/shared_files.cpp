// SPDX-License-Identifier: Apache-2.0
#include "node/sim/shared_files.hpp"

#include <algorithm>
#include <utility>

#include "contracts/worker/frames.hpp"

namespace assay::node::sim {

namespace {
constexpr std::size_t kOpenFiles = 128;
}

FileRef SharedFiles::of(base::Bytes bytes) {
    const base::Hash256 id = base::blob_id(bytes);
    return std::make_shared<const SharedFile>(SharedFile{id, std::move(bytes)});
}

base::Outcome<worker::SharedDescriptor> SharedFiles::open(const FileRef& file) {
    auto& known = by_id_[file->id];
    if (auto open = known.lock()) return open;
    ASSAY_ASSIGN(worker::SharedDescriptor made, worker::memory_file("sim", file->bytes));
    known = made;
    opened_[made.get()] = {made, file};
    if (last_.size() == kOpenFiles) last_.pop_front();
    last_.push_back(made);
    forget_closed();
    return made;
}

void SharedFiles::forget_closed() {
    if (opened_.size() < forget_at_) return;
    std::erase_if(opened_, [](const auto& entry) { return entry.second.descriptor.expired(); });
    std::erase_if(by_id_, [](const auto& entry) { return entry.second.expired(); });
    forget_at_ = std::max(forget_at_, 2 * opened_.size());
}

base::Outcome<FileRef> SharedFiles::behind(const worker::SharedDescriptor& descriptor) {
    const auto found = opened_.find(descriptor.get());
    if (found != opened_.end() && found->second.descriptor.lock() == descriptor) return found->second.file;
    ASSAY_ASSIGN(base::Bytes bytes, worker::read_all(*descriptor, worker::kMaxBulk));
    return of(std::move(bytes));
}

}  // namespace assay::node::sim
