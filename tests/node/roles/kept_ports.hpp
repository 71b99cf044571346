// SPDX-License-Identifier: Apache-2.0
// Gives tests the seams of a role that keep what the role asks of them, for the test to answer.
#pragma once

#include <deque>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "node/seams/ports.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::test_market {

/// Random bytes that nobody has to guess: eight of each number.
struct SlowlyCountedBytes final : Random {
    void fill(std::span<std::uint8_t> out) override {
        for (auto& byte : out) byte = static_cast<std::uint8_t>(++last >> 3);
    }
    std::uint32_t last = 0;
};

/// Keeps what a role offers to the ledger.
struct SentTransactions final : LedgerPort {
    void submit(RequestId request, Bytes transaction) override {
        sent.emplace_back(request, std::move(transaction));
    }
    void get(RequestId, Bytes) override { FAIL("a role reads its followed state"); }
    void scan(RequestId, Bytes) override { FAIL("a role reads its followed state"); }
    void subscribe(std::uint64_t) override {}
    void subscribe_again(std::uint64_t, std::uint64_t) override { FAIL("the chain's times are the clock's"); }
    std::vector<std::pair<RequestId, Bytes>> sent;
};

/// Keeps what a role asks its peers for.
struct AskedBlobs final : BlobPort {
    struct Asked {
        RequestId request = 0;
        BlobId id;
        FetchTerms terms;
        std::vector<Endpoint> holders;
    };
    void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
               std::vector<Endpoint> holders) override {
        asked.push_back({request, id, terms, std::move(holders)});
    }
    void lend_to(const std::vector<OutwardPeer>& peers) override { lent = peers; }
    void admit(const std::set<base::PublicKey>& nodes) override { admitted = nodes; }
    std::deque<Asked> asked;
    std::vector<OutwardPeer> lent;
    std::set<base::PublicKey> admitted;
};

}  // namespace assay::node::test_market
