// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/evidence.hpp"

#include <map>
#include <memory>
#include <vector>

#include "contracts/rules/evidence.hpp"
#include "contracts/rules/transactions.hpp"
#include "ledger/store/block_log.hpp"
#include "ledger/store/layout.hpp"
#include "ledger/store/posix_disk.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

constexpr const char* kCheckLedger = "check the whole ledger: assay audit ledger";

// The block's transaction with this id; nothing when it holds none.
const Bytes* find_transaction(const Block& block, const Hash256& id) {
    for (const Bytes& bytes : block.transactions) {
        const auto transaction = base::decode<contracts::SignedTransaction>(bytes);
        if (transaction && contracts::transaction_id(transaction->body) == id) return &bytes;
    }
    return nullptr;
}

Outcome<void> recover_from(const Block& block, const std::vector<contracts::Evidence>& wanted,
                           contracts::MemoryState& state) {
    for (const contracts::Evidence& evidence : wanted) {
        const Bytes* transaction = find_transaction(block, evidence.place.transaction);
        auto record = transaction ? contracts::recover(state, evidence, *transaction) : std::nullopt;
        if (!record) {
            return fail(ErrorKind::kVerification,
                        "block " + std::to_string(evidence.place.height) + " does not hold the message " +
                            evidence.place.transaction.hex() + " that the state names",
                        kCheckLedger);
        }
        state.put(evidence.key, *std::move(record));
    }
    return {};
}

// The blocks of a file, read from its beginning towards its end.
class LogReader {
public:
    explicit LogReader(const LogFile& file) : file_(file) {}

    Outcome<Block> read(std::uint64_t height) {
        Bytes payload;
        while (height_ < height) {
            ASSAY_ASSIGN(const auto frame, read_frame(file_, offset_, payload));
            if (!frame) return damaged(height);
            offset_ += kFrameHeaderSize + frame->length;
            ++height_;
        }
        auto block = base::decode<Block>(payload);
        if (!block) return damaged(height);
        return *std::move(block);
    }

private:
    static base::Failed<base::Error> damaged(std::uint64_t height) {
        return fail(ErrorKind::kVerification, "block " + std::to_string(height) + " cannot be read",
                    kCheckLedger);
    }

    const LogFile& file_;
    std::uint64_t offset_ = kLogHeaderSize;
    std::uint64_t height_ = 0;
};

}  // namespace

Outcome<void> recover_records(contracts::MemoryState& state, const contracts::HistoryReader& rows) {
    const auto back = contracts::put_back(state, rows);
    if (back) return {};
    return fail(ErrorKind::kVerification, back.error(),
                "move the folder ledger/index away and start the node again, which makes it anew from the "
                "blocks");
}

Outcome<void> recover_records(contracts::MemoryState& state) {
    return recover_records(state, contracts::history_of(state));
}

Outcome<void> recover_evidence(contracts::MemoryState& state, const BlockReader& read) {
    std::map<std::uint64_t, std::vector<contracts::Evidence>> wanted;
    for (contracts::Evidence& evidence : contracts::list_evidence(state))
        wanted[evidence.place.height].push_back(std::move(evidence));
    for (const auto& [height, records] : wanted) {
        ASSAY_ASSIGN(const Block block, read(height));
        ASSAY_TRY(recover_from(block, records, state));
    }
    return {};
}

Outcome<void> recover_evidence(contracts::MemoryState& state, const std::string& home) {
    ASSAY_ASSIGN(const BlockReader read, block_reader(home));
    return recover_evidence(state, read);
}

Outcome<std::unique_ptr<LogFile>> open_blocks(const std::string& home) {
    const std::string log = Layout(home).log;
    auto file = open_read_only(log);
    if (file || file.error().kind != ErrorKind::kNotFound) return file;
    return fail(ErrorKind::kNotFound, "the home " + home + " has no blocks: there is no file " + log,
                "fetch them: assay ledger fetch --home " + home + " --node HOST:PORT");
}

Outcome<BlockReader> block_reader(const std::string& home) {
    ASSAY_ASSIGN(auto file, open_blocks(home));
    const std::shared_ptr<const LogFile> held = std::move(file);
    const auto reader = std::make_shared<LogReader>(*held);
    return BlockReader([held, reader](std::uint64_t height) { return reader->read(height); });
}

}  // namespace assay::ledger
