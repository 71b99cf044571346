// SPDX-License-Identifier: Apache-2.0
// Gives tests of a role's bench ports that answer when the test says so: peers, a worker, a store.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/roles/job_bench.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

using node::BlobFiles;
using node::BlobId;
using node::BlobPort;
using node::Endpoint;
using node::FetchTerms;
using node::LedgerPort;
using node::Pin;
using node::RequestId;
using node::SharedDescriptor;
using node::WorkerPort;

struct NoLedger final : LedgerPort {
    void submit(RequestId, base::Bytes) override { FAIL("the bench submits nothing"); }
    void get(RequestId, base::Bytes) override { FAIL("the bench reads the followed state only"); }
    void scan(RequestId, base::Bytes) override { FAIL("the bench reads the followed state only"); }
    void subscribe(std::uint64_t) override { FAIL("the bench does not subscribe"); }
    void subscribe_again(std::uint64_t, std::uint64_t) override { FAIL("the bench does not subscribe"); }
};
// Peers and the worker answer when the test says so.
struct SlowBlobs final : BlobPort {
    void fetch(RequestId request, const BlobId& id, const FetchTerms& wanted,
               std::vector<Endpoint>) override {
        asked.emplace_back(request, id);
        terms[id] = wanted;
    }
    std::map<BlobId, FetchTerms> terms;  ///< of the newest question
    std::vector<std::pair<RequestId, BlobId>> asked;
};
struct SlowWorker final : WorkerPort {
    void submit(RequestId request, worker::Message message, std::vector<SharedDescriptor> files) override {
        asked.emplace_back(request, std::move(message));
        bulk = std::move(files);
    }
    void cancel(RequestId) override {}
    std::vector<std::pair<RequestId, worker::Message>> asked;
    std::vector<SharedDescriptor> bulk;  ///< of the newest request
};
/// Every blob is a file of its own.
struct SlowStore final : BlobFiles {
    base::Outcome<BlobId> put(const SharedDescriptor& file, node::Serving serving) override {
        here[contracts::test::bytes_of("computed")] = Pin::kPinned;
        files[contracts::test::bytes_of("computed")] = file;
        if (serving == node::Serving::kWithheld) withheld.insert(contracts::test::bytes_of("computed"));
        return contracts::test::bytes_of("computed");
    }
    base::Outcome<void> serve(const BlobId& id) override {
        withheld.erase(id);
        return {};
    }
    std::set<BlobId> withheld;
    base::Outcome<SharedDescriptor> open(const BlobId& id) override {
        if (!files.contains(id)) files[id] = worker::memory_file("blob", id.view()).value();
        return files.at(id);
    }
    base::Outcome<base::Bytes> read(const BlobId& id, std::size_t limit) override {
        return worker::read_all(*open(id).value(), limit);
    }
    [[nodiscard]] bool has(const BlobId& id) const override { return here.contains(id); }
    void drop(const BlobId& id) override { here.erase(id); }
    [[nodiscard]] std::vector<BlobId> evictable() const override {
        std::vector<BlobId> ids;
        for (const auto& [id, pin] : here) {
            if (pin == Pin::kEvictable) ids.push_back(id);
        }
        return ids;
    }
    base::Outcome<void> pin_only(const std::set<BlobId>& ids) override {
        for (auto& [id, pin] : here) {
            if (!ids.contains(id)) pin = Pin::kEvictable;
        }
        return {};
    }
    [[nodiscard]] bool is_intact(const BlobId& id) const override { return has(id); }
    [[nodiscard]] unsigned percent_full() const override { return 0; }
    [[nodiscard]] node::StoreRoom room() const override { return {UINT64_MAX, 0}; }
    [[nodiscard]] bool is_evictable(const BlobId& id) const override {
        return has(id) && here.at(id) == Pin::kEvictable;
    }
    base::Outcome<void> set_pin(const BlobId& id, Pin pin) override {
        if (!has(id)) return base::fail(base::ErrorKind::kNotFound, "no such blob");
        if (disk_refuses) return base::fail(base::ErrorKind::kFailure, "the disk is read-only");
        here[id] = pin;
        return {};
    }
    bool disk_refuses = false;
    std::map<BlobId, Pin> here;
    std::map<BlobId, SharedDescriptor> files;
};

}  // namespace assay::test
