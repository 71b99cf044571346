// SPDX-License-Identifier: Apache-2.0
// What is left of a job that has ended. Its records leave the state for the history, which the program that
// executes the blocks keeps outside the state (State::hand_over). The state keeps one small record, with a
// hash for each group of records that left. A reader checks a row of the history against that hash.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

/// The records of one table that a job had.
struct RecordGroup {
    std::uint8_t table = 0;  ///< Table
    std::uint32_t rows = 0;  ///< of the history
    std::uint64_t records = 0;
    Hash256 hash;  ///< over the rows: extended_hash for each, starting from zero
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.table, self.rows, self.records, self.hash);
    }
    friend bool operator==(const RecordGroup&, const RecordGroup&) = default;
};

/// Stored for ever, from the moment when the first record of an ended job leaves.
struct EndedJob {
    std::string name;  ///< JobSpec::name
    PublicKey buyer;   ///< owner key
    PublicKey buyer_node;
    Hash256 spec;                    ///< hash_of_spec
    std::uint64_t submitted_at = 0;  ///< the blocks from here...
    std::uint64_t ended_at = 0;      ///< ...to here hold every message about the job
    Reason reason = Reason::kNone;
    std::uint32_t rounds = 0;       ///< JobSpec::rounds
    std::uint32_t rounds_done = 0;  ///< rounds that were settled with a merge
    Hash256 base_root;              ///< of the resulting model
    Hash256 base_blob;
    Amount budget, spent, refunded;
    std::vector<RecordGroup> groups;  ///< in the order in which they left
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.name, self.buyer, self.buyer_node, self.spec, self.submitted_at, self.ended_at,
              self.reason, self.rounds, self.rounds_done, self.base_root, self.base_blob, self.budget,
              self.spent, self.refunded, self.groups);
    }
    [[nodiscard]] const RecordGroup* group(Table table) const;
};

/// Keys and values of records, ascending by key.
using Records = std::vector<std::pair<Bytes, Bytes>>;

/// A row of the history: some records of one group. The rows of a group are in the order of the keys.
struct HistoryRow {
    Records records;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.records);
    }
};

/// H("assay/spec/v1", encoding).
Hash256 hash_of_spec(const JobSpec& spec);
/// The hash of a group after one more row: H("assay/history/v1", hash before, encoding of the row).
Hash256 extended_hash(const Hash256& before, ByteView row);

Bytes ended_job_key(const Hash256& job);
Bytes history_key(const Hash256& job, Table table, std::uint32_t row);
/// The tables whose records belong to a job, in the order in which the records leave; the job's progress is
/// last.
std::span<const Table> tables_of_job();

std::optional<EndedJob> read_ended_job(const StateView& state, const Hash256& job);
/// Ascending by job.
std::vector<std::pair<Hash256, EndedJob>> list_ended_jobs(const StateView& state);
/// Whether the job has ended, whether or not its records have left. False when it runs or never existed.
bool has_ended(const StateView& state, const Hash256& job);
/// Why a message about a job without progress is refused: the job is over, or it never existed.
Reason reason_of_absence(const StateView& state, const Hash256& job);

/// Looks up a row of the history; nothing when it is not there.
using HistoryReader = std::function<std::optional<Bytes>(ByteView key)>;
/// A reader of the rows that were handed over to this state. The state must outlive the reader.
HistoryReader history_of(const MemoryState& state);

/// The records of a group. The error names the row that is missing or does not match the state's hash.
Result<Records, std::string> read_group(const Hash256& job, const RecordGroup& group,
                                        const HistoryReader& rows);

/// Puts the records of every ended job back into `state`, in addition to those that it still holds, for
/// audits. The error is the first one of read_group; `state` then has the records of the jobs before it.
Result<void, std::string> put_back(State& state, const HistoryReader& rows);

/// A state whose readers find the records of ended jobs as if they had not left. A read about one job (a key
/// or prefix that names it) also covers the history; a read of a whole table covers only the state. The
/// groups of one job stay in memory for the next read. The state may change between two reads, as a node's
/// does; a walk visits a record that leaves meanwhile once. A visitor may itself read from this object.
class WithHistory final : public StateView {
public:
    /// `damaged` is called with an error of read_group; the reader then finds no such record. `state` must
    /// outlive this object.
    WithHistory(const StateView& state, HistoryReader rows,
                std::function<void(const std::string&)> damaged = {})
        : state_(state), rows_(std::move(rows)), damaged_(std::move(damaged)) {}
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override;
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override;

private:
    /// The records that left, of the group that holds `key`; null when none left.
    std::shared_ptr<const Records> records_of(ByteView key) const;

    const StateView& state_;
    HistoryReader rows_;
    std::function<void(const std::string&)> damaged_;
    struct Known {
        RecordGroup group;
        // Shared with the walks over it: a visitor's next read may replace it with another job's records.
        std::shared_ptr<const Records> records;
    };
    mutable Hash256 job_;  ///< the job whose groups are in known_
    mutable std::map<std::uint8_t, Known> known_;
};

}  // namespace assay::contracts
