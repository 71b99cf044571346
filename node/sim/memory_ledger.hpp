// SPDX-License-Identifier: Apache-2.0
// Gives the simulator a disk and an index for its ledger, both in memory. Nothing in them fails.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ledger/store/disk.hpp"
#include "ledger/store/key_value_store.hpp"

namespace assay::node::sim {

using base::Bytes;
using base::ByteView;
using base::Outcome;

class MemoryLedgerDisk final : public ledger::Disk {
public:
    Outcome<std::unique_ptr<ledger::LogFile>> open(const std::string& path) override;
    Outcome<std::unique_ptr<ledger::LogFile>> open_to_read(const std::string& path) override;
    Outcome<bool> exists(const std::string& path) override { return files_.contains(path); }
    Outcome<void> make_directories(const std::string&) override { return {}; }
    Outcome<void> sync_directory(const std::string&) override { return {}; }
    Outcome<std::uint64_t> free_bytes(const std::string&) override { return std::uint64_t{1} << 50; }

private:
    std::map<std::string, std::shared_ptr<Bytes>> files_;
};

/// One store, whose pairs live as long as the provider.
class MemoryIndex final : public ledger::KeyValueProvider {
public:
    Outcome<std::unique_ptr<ledger::KeyValueStore>> open() override;
    Outcome<void> destroy() override {
        values_.clear();
        return {};
    }

private:
    std::map<Bytes, Bytes> values_;
};

}  // namespace assay::node::sim
