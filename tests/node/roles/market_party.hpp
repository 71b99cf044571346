// SPDX-License-Identifier: Apache-2.0
// Gives markets in one thread their parties, each with all that is its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "node/blob/parts.hpp"
#include "node/processes/store_files.hpp"
#include "node/roles/following_role.hpp"
#include "tests/node/roles/kept_ports.hpp"
#include "tests/node/roles/local_worker.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::test_market {

using assay::test::key_of;
using test::HandClock;
using test::KeptLog;
using test::MemoryDisk;
using test::NoTimers;

/// A party: a role with everything that is its own.
struct Party {
    Party(std::string called, const ledger::Genesis& genesis, HandClock& the_clock,
          const std::filesystem::path& folder, std::uint64_t quota)
        : name(std::move(called)),
          owner(key_of(name)),
          node(key_of(name + "'s node")),
          clock(the_clock),
          store(
              BlobStore::open({.folder = folder / name, .quota_bytes = quota, .free_bytes_min = 0}).value()),
          files(make_blob_files(*store)),
          parts{.seams = {clock, random, timers, mempool, blobs, notes, worker, log},
                .files = *files,
                .genesis = genesis,
                .node_key = node,
                .endpoint = name + ":1",
                .start_height = 0,
                .finish = [this](std::optional<base::Error> why) {
                    ended = true;
                    error = std::move(why);
                }} {}

    std::string name;
    base::SecretKey owner, node;
    HandClock& clock;
    SlowlyCountedBytes random;
    NoTimers timers;
    SentTransactions mempool;
    AskedBlobs blobs;
    MemoryDisk notes;
    LocalWorker worker;
    KeptLog log;
    std::unique_ptr<BlobStore> store;
    std::unique_ptr<BlobFiles> files;
    std::set<BlobId> asked_for;                 ///< of others
    std::map<Traffic, std::uint64_t> received;  ///< bytes of blobs, by what they were asked for
    std::map<BlobId, std::uint64_t> sent;       ///< bytes of each blob, to anybody
    std::set<BlobId> withheld;                  ///< in its store, and not served
    bool serves = true;
    bool trickles = false;           ///< what it serves comes so slowly that it is never there
    bool lies = false;               ///< a byte of every chunk that it gives is another
    std::optional<ChunkRange> only;  ///< of every blob it gives these chunks alone
    bool busy = false;               ///< it answers that it has no room, to whoever asks it
    RoleParts parts;
    std::unique_ptr<Role> role;
    bool ended = false;
    std::optional<base::Error> error;
};

/// What a party serves.
class PartyBlobs final : public BlobService {
public:
    explicit PartyBlobs(Party& party) : party_(party) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override {
        if (party_.withheld.contains(id)) return base::fail(base::ErrorKind::kNotFound, "not here");
        if (party_.busy) {
            return base::failed(
                FetchFailure({base::ErrorKind::kUnreachable, "too busy", {}}, FetchFault::kBusy));
        }
        return party_.store->describe(id);
    }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        bool refused = false;
        const auto end = party_.store->fetch(id, first, [&](std::uint64_t index, base::ByteView chunk) {
            refused = party_.only && (index < party_.only->first || index >= party_.only->end);
            if (refused) return false;
            party_.sent[id] += chunk.size();
            Bytes bytes = base::to_bytes(chunk);
            if (party_.lies) bytes.back() ^= 1;
            return handler(index, bytes);
        });
        if (refused) return base::fail(base::ErrorKind::kNotFound, "not given");
        return end;
    }

private:
    Party& party_;
};

/// One bit of the blob is another, as a disk or a person may leave it.
inline void change_on_disk(Party& party, const BlobId& blob) {
    const std::filesystem::path file = party.store->path(blob).value();
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(100);
    const char changed = static_cast<char>(bytes.get() ^ 1);
    bytes.seekp(100);
    bytes.put(changed);
    bytes.close();
    REQUIRE_FALSE(party.files->is_intact(blob));
}

}  // namespace assay::node::test_market
