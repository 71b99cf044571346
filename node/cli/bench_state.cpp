// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "contracts/rules/apply.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/counting_view.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/cli/bench_history.hpp"
#include "node/cli/scratch_folder.hpp"
#include "node/roles/follower.hpp"
#include "node/worker/bench_run.hpp"

namespace assay::node {

namespace {

using base::Bytes;
using base::ErrorKind;
using base::Outcome;

constexpr HistorySize kSizes[] = {{1'000, 0}, {10'000, 0}, {100'000, 0}, {100'000, 10'000}};
constexpr const char* kChainId = "assay-bench";
constexpr const char* kFolder = "assay-bench";
constexpr std::size_t kFewestTurns = 30;
constexpr int kStarts = 5;

std::string shape_of(HistorySize size) {
    std::string text = std::to_string(size.accounts) + " accounts";
    if (size.ended_jobs > 0) text += ", " + std::to_string(size.ended_jobs) + " ended jobs";
    return text;
}

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Files that are written and not waited for: how long a device takes to sync says nothing about the state.
class UnsyncedDisk final : public ledger::Disk {
public:
    Outcome<std::unique_ptr<ledger::LogFile>> open(const std::string& path) override {
        ASSAY_ASSIGN(auto file, disk_.open(path));
        return std::unique_ptr<ledger::LogFile>(std::make_unique<File>(std::move(file)));
    }
    Outcome<std::unique_ptr<ledger::LogFile>> open_to_read(const std::string& path) override {
        return disk_.open_to_read(path);
    }
    Outcome<bool> exists(const std::string& path) override { return disk_.exists(path); }
    Outcome<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
    Outcome<void> sync_directory(const std::string&) override { return {}; }
    Outcome<std::uint64_t> free_bytes(const std::string& path) override { return disk_.free_bytes(path); }

private:
    class File final : public ledger::LogFile {
    public:
        explicit File(std::unique_ptr<ledger::LogFile> file) : file_(std::move(file)) {}
        Outcome<void> append(base::ByteView bytes) override { return file_->append(bytes); }
        Outcome<void> sync() override { return {}; }
        Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const override {
            return file_->read(offset, size);
        }
        [[nodiscard]] Outcome<std::uint64_t> size() const override { return file_->size(); }
        Outcome<void> truncate(std::uint64_t size) override { return file_->truncate(size); }

    private:
        std::unique_ptr<ledger::LogFile> file_;
    };
    ledger::PosixDisk disk_;
};

ledger::Genesis bench_genesis(const base::SecretKey& sequencer) {
    contracts::GenesisConfig config;
    config.chain_id = kChainId;
    config.validators = {{bench_sender(kBenchSenders).public_key(), sequencer.public_key()}};
    return {
        .chain_id = kChainId, .validators = contracts::validators_of(config), .rules = base::encode(config)};
}

/// A ledger with a past, that transfers are sent to.
class BenchLedger {
public:
    BenchLedger(HistorySize size, ScratchFolder folder)
        : size_(size),
          folder_(std::move(folder)),
          machine_(size),
          genesis_(bench_genesis(sequencer_)),
          index_(ledger::leveldb_provider(ledger::Layout(folder_.path().string()).index,
                                          {.durability = ledger::Durability::kInOrder})) {}

    Outcome<void> open() {
        ASSAY_TRY(ledger::write_genesis(disk_, ledger::Layout(folder_.path().string()).genesis, genesis_));
        ASSAY_ASSIGN(chain_, ledger::Chain::open(disk_, *index_, machine_, folder_.path().string()));
        nonces_.resize(kBenchSenders);
        return {};
    }

    /// Seconds of one block with one transfer between accounts all over the state.
    Outcome<double> make_block() {
        const Bytes transaction = next_transfer();
        Outcome<ledger::Appended> made = ledger::Appended{};
        const double seconds = seconds_of(
            [&] { made = chain_->append({transaction}, ledger::EmptyBlock::kSkip, ++turn_, sequencer_); });
        ASSAY_TRY(check(made));
        return seconds;
    }

    struct Counts {
        std::uint64_t reads = 0;
        std::uint64_t hashes = 0;
    };
    Outcome<Counts> count_block() {
        const Bytes transaction = next_transfer();
        const ledger::CountingView counted(chain_->state());
        contracts::Overlay overlay(counted);
        ASSAY_ASSIGN(
            const ledger::Prepared prepared,
            ledger::prepare_block(machine_, overlay, {kChainId, chain_->height() + 1}, {transaction}));
        // The tree asks once more for what it may have to take back.
        Counts counts{counted.reads() + overlay.changes().size(), 0};
        const ledger::StateTree::Hashed before = chain_->application().hashed();
        const auto made =
            chain_->append(prepared.transactions, ledger::EmptyBlock::kSkip, ++turn_, sequencer_);
        ASSAY_TRY(check(made));
        // A record: its key's path, its value, its leaf.
        counts.hashes = 3 * (chain_->application().hashed().records - before.records) +
                        chain_->application().hashed().nodes - before.nodes;
        return counts;
    }

    /// Seconds in which a role that has verified this ledger's first state is ready to follow.
    Outcome<std::vector<double>> start_roles() {
        ASSAY_ASSIGN(const ScratchFolder home, ScratchFolder::make(kFolder));
        const auto store = ledger::leveldb_provider((home.path() / "state").string(),
                                                    {.durability = ledger::Durability::kInOrder});
        ASSAY_ASSIGN(const ledger::VerifiedState first, ledger::genesis_state(machine_, genesis_));
        ASSAY_TRY(ledger::store_anew(*store, first, genesis_));
        std::vector<double> seconds;
        for (int i = 0; i < kStarts; ++i) {
            std::optional<Outcome<Follower>> follower;
            seconds.push_back(seconds_of([&] { follower.emplace(Follower::open(genesis_, *store)); }));
            if (!follower->ok()) return base::failed(follower->error());
            if (!(*follower)->take_notes().empty() || (*follower)->state_root() != first.tree.root())
                return base::fail(ErrorKind::kVerification, "bench: the role did not start from its store");
        }
        return seconds;
    }

private:
    Outcome<void> check(const Outcome<ledger::Appended>& made) const {
        if (!made) return base::failed(made.error());
        if (made->refused.empty()) return {};
        return base::fail(ErrorKind::kRejected, "bench: a transfer was refused: " + made->refused[0].reason);
    }
    Bytes next_transfer() {
        const std::uint32_t from = static_cast<std::uint32_t>(random() % kBenchSenders);
        const std::uint32_t to = static_cast<std::uint32_t>(random() % size_.accounts);
        const contracts::TxBody body{
            .sender = bench_sender(from).public_key(),
            .nonce = nonces_[from]++,
            .expiry = 1'000'000'000,
            .payload = contracts::Transfer{.to = bench_account(to), .amount = base::units(1)}};
        return contracts::sign_transaction(body, bench_sender(from), kChainId);
    }
    std::uint64_t random() {
        seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return seed_ >> 33U;
    }

    HistorySize size_;
    ScratchFolder folder_;
    UnsyncedDisk disk_;
    base::SecretKey sequencer_ = bench_sender(kBenchSenders + 1);
    HistoryMachine machine_;
    ledger::Genesis genesis_;
    std::unique_ptr<ledger::KeyValueProvider> index_;
    std::unique_ptr<ledger::Chain> chain_;
    std::vector<std::uint64_t> nonces_;
    std::uint64_t seed_ = 1;
    std::uint64_t turn_ = 0;
};

BenchRow row_of(const std::string& name, HistorySize size, double value, const std::string& unit) {
    BenchRow row;
    row.name = name;
    row.shape = shape_of(size);
    row.value = value;
    row.unit = unit;
    return row;
}

/// All ledgers take turns, one block each, so that whatever else the machine does touches all of them.
Outcome<std::vector<std::vector<double>>> take_turns(std::vector<std::unique_ptr<BenchLedger>>& ledgers,
                                                     double budget) {
    std::vector<std::vector<double>> times(ledgers.size());
    double spent = 0;
    while (spent < budget || times.front().size() < kFewestTurns) {
        for (std::size_t i = 0; i < ledgers.size(); ++i) {
            ASSAY_ASSIGN(const double seconds, ledgers[i]->make_block());
            times[i].push_back(seconds);
            spent += seconds;
        }
    }
    return times;
}

void block_rows(const BenchReport& report, const std::vector<HistorySize>& sizes,
                const std::vector<std::vector<double>>& times) {
    constexpr double kMicro = 1e6;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        BenchRow row = row_of("one-transaction block", sizes[i], median(times[i]) * kMicro, "us");
        if (i > 0) {
            row.peer = "the same, " + shape_of(sizes.front());
            row.peer_value = median(times.front()) * kMicro;
            std::vector<double> ratios;
            for (std::size_t turn = 0; turn < times[i].size(); ++turn)
                ratios.push_back(times.front()[turn] / times[i][turn]);
            row.ratio = median(std::move(ratios));
        }
        report.row(row);
    }
}

}  // namespace

Outcome<void> bench_state(const BenchOptions& options, const BenchReport& report) {
    std::vector<HistorySize> sizes;
    for (const HistorySize& size : kSizes)
        if (shape_of(size).find(options.only) != std::string::npos) sizes.push_back(size);
    std::vector<std::unique_ptr<BenchLedger>> ledgers;
    for (const HistorySize& size : sizes) {
        report.note("making a state of " + shape_of(size));
        ASSAY_ASSIGN(ScratchFolder folder, ScratchFolder::make(kFolder));
        ledgers.push_back(std::make_unique<BenchLedger>(size, std::move(folder)));
        ASSAY_TRY(ledgers.back()->open());
    }
    if (ledgers.empty()) return {};
    report.note("blocks");
    ASSAY_ASSIGN(const auto times, take_turns(ledgers, options.seconds));
    block_rows(report, sizes, times);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        ASSAY_ASSIGN(const BenchLedger::Counts counts, ledgers[i]->count_block());
        report.row(row_of("records read by it", sizes[i], static_cast<double>(counts.reads), "records"));
        report.row(
            row_of("hashes of its state root", sizes[i], static_cast<double>(counts.hashes), "hashes"));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        report.note("starts of a role, " + shape_of(sizes[i]));
        ASSAY_ASSIGN(std::vector<double> seconds, ledgers[i]->start_roles());
        report.row(row_of("start of a role", sizes[i], median(std::move(seconds)), "s"));
    }
    return {};
}

}  // namespace assay::node
