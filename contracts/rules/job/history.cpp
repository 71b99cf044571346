// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/history.hpp"

#include <algorithm>
#include <array>

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::size_t kJobPrefix = 1 + 32;  // a table, then a job

bool has_prefix(ByteView bytes, ByteView prefix) {
    return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool stands_before(ByteView first, ByteView second) {
    return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end());
}

Bytes key_of_group(const Hash256& job, std::uint8_t table) {
    return KeyBuilder(static_cast<Table>(table)).add(job.view()).take();
}

constexpr std::array kTablesOfJob = {
    Table::kRound,       Table::kSlotRound,  Table::kReveal,       Table::kAudit,
    Table::kSettlement,  Table::kJudges,     Table::kBeaconLink,   Table::kMergePosting,
    Table::kRevealPlace, Table::kAuditPlace, Table::kHandedOn,     Table::kServe,
    Table::kStorage,     Table::kAsk,        Table::kBidding,      Table::kBuyerEndpoint,
    Table::kRoster,      Table::kPanel,      Table::kBeaconMember, Table::kJobAdditions,
    Table::kMergePlace,  Table::kGame,       Table::kGamePieces,   Table::kRoundPrices,
    Table::kSealCost,    Table::kDroppedAt,  Table::kShownAge,     Table::kJobTerms,
    Table::kJobProgress};
// leave() goes on in another block as long as the progress is there.
static_assert(kTablesOfJob.back() == Table::kJobProgress);

/// Whether the list above has every table whose records leave with their job, and no other.
constexpr bool lists_what_leaves() {
    for (unsigned number = 0; number < 256; ++number) {
        const auto table = static_cast<Table>(number);
        bool listed = false;
        for (const Table one : kTablesOfJob) listed = listed || one == table;
        if (listed != leaves_with_job(table)) return false;
    }
    return true;
}
static_assert(lists_what_leaves());

/// Whether a key, or the beginning of one, is of a record that leaves with the job that it names.
bool names_one_job(ByteView key) {
    return key.size() >= kJobPrefix && leaves_with_job(static_cast<Table>(key.front()));
}

}  // namespace

const RecordGroup* EndedJob::group(Table table) const {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const RecordGroup& one) {
        return one.table == static_cast<std::uint8_t>(table);
    });
    return found == groups.end() ? nullptr : &*found;
}

Hash256 hash_of_spec(const JobSpec& spec) { return base::hash("assay/spec/v1", base::encode(spec)); }

Hash256 extended_hash(const Hash256& before, ByteView row) {
    return base::Hasher("assay/history/v1").add(before).add(row).finish();
}

Bytes ended_job_key(const Hash256& job) { return KeyBuilder(Table::kEndedJob).add(job.view()).take(); }

Bytes history_key(const Hash256& job, Table table, std::uint32_t row) {
    return KeyBuilder(Table::kHistory)
        .add(job.view())
        .add_number(static_cast<std::uint64_t>(table), 1)
        .add_number(row, 4)
        .take();
}

std::span<const Table> tables_of_job() { return kTablesOfJob; }

std::optional<EndedJob> read_ended_job(const StateView& state, const Hash256& job) {
    return load<EndedJob>(state, ended_job_key(job));
}

std::vector<std::pair<Hash256, EndedJob>> list_ended_jobs(const StateView& state) {
    std::vector<std::pair<Hash256, EndedJob>> found;
    const Bytes prefix = table_prefix(Table::kEndedJob);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == kJobPrefix);
        found.emplace_back(base::hash_from(key.subspan(1)), stored<EndedJob>(value));
        return true;
    });
    return found;
}

bool has_ended(const StateView& state, const Hash256& job) {
    const auto progress = load<JobProgress>(state, KeyBuilder(Table::kJobProgress).add(job.view()).take());
    if (progress) return progress->phase == JobPhase::kEnded;
    return state.get(ended_job_key(job)).has_value();
}

Reason reason_of_absence(const StateView& state, const Hash256& job) {
    return state.get(ended_job_key(job)) ? Reason::kJobOver : Reason::kUnknownJob;
}

HistoryReader history_of(const MemoryState& state) {
    return [&state](ByteView key) -> std::optional<Bytes> {
        const auto found = state.history().find(base::to_bytes(key));
        if (found == state.history().end()) return std::nullopt;
        return found->second;
    };
}

Result<Records, std::string> read_group(const Hash256& job, const RecordGroup& group,
                                        const HistoryReader& rows) {
    const auto table = static_cast<Table>(group.table);
    const Bytes prefix = key_of_group(job, group.table);
    const auto wrong = [&](std::uint32_t row, const char* what) {
        return failed("job " + job.hex() + ": row " + std::to_string(row) + " of table 0x" +
                      base::to_hex(ByteView(&group.table, 1)) + " of the history " + what);
    };
    Records all;
    Hash256 hash;
    for (std::uint32_t number = 0; number < group.rows; ++number) {
        const auto bytes = rows(history_key(job, table, number));
        if (!bytes) return wrong(number, "is missing");
        hash = extended_hash(hash, *bytes);
        auto row = base::decode<HistoryRow>(*bytes);
        if (!row) return wrong(number, "does not decode");
        for (auto& record : row->records) {
            if (!has_prefix(record.first, prefix)) return wrong(number, "holds a record of another job");
            all.push_back(std::move(record));
        }
    }
    if (hash != group.hash || all.size() != group.records)
        return wrong(group.rows - 1, "ends in records that are not those whose hash the state keeps");
    return all;
}

Result<void, std::string> put_back(State& state, const HistoryReader& rows) {
    for (const auto& [job, ended] : list_ended_jobs(state)) {
        for (const RecordGroup& group : ended.groups) {
            auto records = read_group(job, group, rows);
            if (!records) return failed(records.error());
            for (auto& [key, value] : *records) state.put(key, std::move(value));
        }
    }
    return {};
}

std::shared_ptr<const Records> WithHistory::records_of(ByteView key) const {
    if (!names_one_job(key)) return nullptr;
    const Hash256 job = base::hash_from(key.subspan(1, 32));
    const auto ended = read_ended_job(state_, job);
    const RecordGroup* group = ended ? ended->group(static_cast<Table>(key.front())) : nullptr;
    if (group == nullptr) return nullptr;
    if (job != job_) known_.clear();
    job_ = job;
    Known& known = known_[group->table];
    if (known.records && known.group == *group) return known.records;
    auto records = read_group(job, *group, rows_);
    if (!records) {
        if (damaged_) damaged_(records.error());
        return nullptr;
    }
    known = {*group, std::make_shared<const Records>(*std::move(records))};
    return known.records;
}

std::optional<Bytes> WithHistory::get(ByteView key) const {
    if (auto value = state_.get(key)) return value;
    const auto records = records_of(key);
    if (!records) return std::nullopt;
    const auto found = std::lower_bound(
        records->begin(), records->end(), key,
        [](const auto& record, ByteView wanted) { return stands_before(record.first, wanted); });
    if (found == records->end() || stands_before(key, found->first)) return std::nullopt;
    return found->second;
}

// The state first, then the history: a state that goes on between the two reads has moved records from the
// one to the other, and what was read before is then met twice, never missed.
void WithHistory::for_each(ByteView prefix, ByteView from, const Visitor& visit) const {
    if (!names_one_job(prefix)) return state_.for_each(prefix, from, visit);
    Records live;
    state_.for_each(prefix, from, [&](ByteView key, ByteView value) {
        live.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return true;
    });
    const auto left = records_of(prefix);
    const Records none;
    const Records& gone = left ? *left : none;
    auto at = live.begin();
    for (const auto& [key, value] : gone) {
        if (!has_prefix(key, prefix) || stands_before(key, from)) continue;
        for (; at != live.end() && at->first < key; ++at)
            if (!visit(at->first, at->second)) return;
        if (at != live.end() && at->first == key) ++at;
        if (!visit(key, value)) return;
    }
    for (; at != live.end(); ++at)
        if (!visit(at->first, at->second)) return;
}

}  // namespace assay::contracts
