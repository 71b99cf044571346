// SPDX-License-Identifier: Apache-2.0
#include "node/sim/memory_ledger.hpp"

#include <algorithm>

namespace assay::node::sim {

namespace {

class MemoryFile final : public ledger::LogFile {
public:
    explicit MemoryFile(std::shared_ptr<Bytes> bytes) : bytes_(std::move(bytes)) {}
    Outcome<void> append(ByteView bytes) override {
        bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
        return {};
    }
    Outcome<void> sync() override { return {}; }
    Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const override {
        if (offset >= bytes_->size()) return Bytes{};
        const ByteView rest = ByteView(*bytes_).subspan(static_cast<std::size_t>(offset));
        return base::to_bytes(rest.first(std::min(size, rest.size())));
    }
    Outcome<std::uint64_t> size() const override { return std::uint64_t{bytes_->size()}; }
    Outcome<void> truncate(std::uint64_t size) override {
        bytes_->resize(static_cast<std::size_t>(size));
        return {};
    }

private:
    std::shared_ptr<Bytes> bytes_;
};

class MemoryPairs final : public ledger::KeyValueStore {
public:
    explicit MemoryPairs(std::map<Bytes, Bytes>& values) : values_(values) {}
    Outcome<std::optional<Bytes>> get(ByteView key) const override {
        const auto found = values_.find(base::to_bytes(key));
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    Outcome<void> scan(ByteView prefix, const std::function<void(ByteView, ByteView)>& visit) const override {
        const Bytes first = base::to_bytes(prefix);
        for (auto at = values_.lower_bound(first); at != values_.end(); ++at) {
            const bool begins =
                at->first.size() >= first.size() && std::equal(first.begin(), first.end(), at->first.begin());
            if (!begins) break;
            visit(at->first, at->second);
        }
        return {};
    }
    Outcome<void> write(const ledger::Batch& batch) override {
        for (const auto& [key, value] : batch) {
            if (value) {
                values_[key] = *value;
            } else {
                values_.erase(key);
            }
        }
        return {};
    }

private:
    std::map<Bytes, Bytes>& values_;
};

}  // namespace

Outcome<std::unique_ptr<ledger::LogFile>> MemoryLedgerDisk::open(const std::string& path) {
    auto& file = files_[path];
    if (!file) file = std::make_shared<Bytes>();
    return std::unique_ptr<ledger::LogFile>(std::make_unique<MemoryFile>(file));
}

Outcome<std::unique_ptr<ledger::LogFile>> MemoryLedgerDisk::open_to_read(const std::string& path) {
    if (!files_.contains(path)) return base::fail(base::ErrorKind::kNotFound, "there is no file " + path);
    return open(path);
}

Outcome<std::unique_ptr<ledger::KeyValueStore>> MemoryIndex::open() {
    return std::unique_ptr<ledger::KeyValueStore>(std::make_unique<MemoryPairs>(values_));
}

}  // namespace assay::node::sim
