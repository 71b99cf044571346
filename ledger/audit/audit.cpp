// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/audit.hpp"

#include "ledger/application/execute.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/store/block_log.hpp"
#include "ledger/store/certificate.hpp"
#include "ledger/store/header_time.hpp"
#include "ledger/store/layout.hpp"
#include "ledger/store/posix_disk.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

std::string name_of(FrameFault fault) {
    switch (fault) {
        case FrameFault::kShort: return "the file ends inside it";
        case FrameFault::kHeader: return "its frame header is damaged";
        case FrameFault::kPayload: return "its checksum does not match its bytes";
        case FrameFault::kEnd: break;
    }
    return "missing";
}

std::string without_prefix(const std::string& text, const std::string& prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Checks one block completely and applies it to the report's state.
Outcome<BlockResults> check_one(const StateMachine& machine, const Genesis& genesis, ByteView payload,
                                StateTree& tree, AuditReport& report) {
    const auto block = base::decode<Block>(payload);
    if (!block) {
        return fail(ErrorKind::kVerification,
                    "its bytes are not canonical: " + std::string(base::to_text(block.error())));
    }
    ASSAY_TRY(check_block(*block, genesis.chain_id, report.height + 1, report.tip, genesis.validators));
    ASSAY_TRY(check_header_time(block->header, genesis, report.time_ms));
    ASSAY_ASSIGN(BlockResults results, replay_block(machine, report.state, tree, genesis.chain_id, *block));
    // A block's own check trusts that the invariants held before; here nothing is trusted.
    ASSAY_TRY(machine.check_invariants(report.state));
    report.height = block->header.height;
    report.tip = block->header.hash();
    report.time_ms = block->header.time_ms;
    report.state_root = block->header.state_root;
    return results;
}

void count(const BlockResults& results, AuditReport& report) {
    report.transactions += results.transactions.size();
    report.events += results.begin_events.size();
    for (const TransactionResult& result : results.transactions) {
        report.events += result.events.size();
    }
}

std::string name_of(const TrustedHeader& header) { return "trusted block " + std::to_string(header.height); }

// The anchors that speak of this ledger; what speaks of another is a failure, or counted where it was only
// found.
Anchors own_anchors(const Anchors& given, const Genesis& genesis, AuditReport& report) {
    Anchors own{given.headers, {}};
    for (const HeldReceipt& held : given.receipts) {
        if (verify_receipt(held.receipt, genesis.chain_id, genesis.validators)) {
            own.receipts.push_back(held);
        } else if (held.source == ReceiptSource::kFound) {
            ++report.strange_receipts;
        } else {
            report.failures.push_back(
                {held.from, "the validators of this ledger did not sign this receipt for this chain", 0});
        }
    }
    return own;
}

// What the anchors say of the block at the report's height, just executed; of the genesis at height 0.
void compare(const Anchors& anchors, const BlockResults& results, AuditReport& report) {
    const std::uint64_t height = report.height;
    const auto differs = [&](const std::string& from, const std::string& what) {
        report.failures.push_back({from, "block " + std::to_string(height) + " " + what, height});
    };
    const auto another = [&](const Hash256& hash) {
        return "has the header hash " + report.tip.hex() + " here, not " + hash.hex();
    };
    const auto bears_out = [&] { report.anchored = height; };
    for (const TrustedHeader& header : anchors.headers) {
        if (header.height != height) continue;
        if (header.hash == report.tip) {
            bears_out();
        } else {
            differs(name_of(header), another(header.hash));
        }
    }
    for (const auto& [from, source, receipt] : anchors.receipts) {
        if (receipt.height != height) continue;
        const auto& all = results.transactions;
        if (receipt.header != report.tip) {
            differs(from, another(receipt.header) + ", which its validators signed too");
        } else if (receipt.index >= all.size() || all[receipt.index].id != receipt.transaction) {
            differs(from, "does not hold the transaction that its validators say it holds");
        } else {
            bears_out();
        }
    }
}

// Of the anchors above the last block.
void miss(const Anchors& anchors, AuditReport& report) {
    const auto cut = [&](const std::string& from, std::uint64_t height) {
        if (height <= report.height) return;
        report.failures.push_back({from,
                                   "the ledger ends at block " + std::to_string(report.height) + ": block " +
                                       std::to_string(height) + " was cut off",
                                   height});
    };
    for (const TrustedHeader& header : anchors.headers) cut(name_of(header), header.height);
    for (const HeldReceipt& held : anchors.receipts) cut(held.from, held.receipt.height);
}

// The blocks, up to the first that does not check.
Outcome<void> walk(const StateMachine& machine, const Genesis& genesis, const LogFile& file,
                   const Anchors& given, AuditReport& report) {
    const Anchors anchors = own_anchors(given, genesis, report);
    compare(anchors, {}, report);
    StateTree tree = StateTree::build(report.state.all());
    report.state_root = tree.root();
    std::uint64_t offset = kLogHeaderSize;
    Bytes payload;
    while (true) {
        ASSAY_ASSIGN(const auto frame, read_frame(file, offset, payload));
        const std::uint64_t height = report.height + 1;
        const std::string where = "block " + std::to_string(height);
        if (!frame) {
            if (frame.error() == FrameFault::kEnd) {
                miss(anchors, report);
                return {};
            }
            report.failures.push_back({where, name_of(frame.error()), height});
            return {};
        }
        const auto results = check_one(machine, genesis, payload, tree, report);
        // This machine's own fault says nothing of the block.
        if (!results && results.error().kind == ErrorKind::kPreflight) return base::failed(results.error());
        if (!results) {
            report.failures.push_back({where, without_prefix(results.error().what, where + ": "), height});
            return {};
        }
        count(*results, report);
        compare(anchors, *results, report);
        offset += kFrameHeaderSize + frame->length;
    }
}

}  // namespace

Outcome<AuditReport> audit_ledger(const StateMachine& machine, const std::string& home,
                                  const Anchors& anchors) {
    ASSAY_TRY(machine.check_machine());
    const Layout layout(home);
    auto genesis_file = open_read_only(layout.genesis);
    if (!genesis_file)
        return fail(ErrorKind::kNotFound, "there is no ledger in " + home,
                    "give a home that has one, or fetch it: assay ledger fetch --home " + home +
                        " --node HOST:PORT --genesis FILE");
    ASSAY_ASSIGN(const std::uint64_t genesis_size, (*genesis_file)->size());
    ASSAY_ASSIGN(const Bytes genesis_bytes, (*genesis_file)->read(0, static_cast<std::size_t>(genesis_size)));

    AuditReport report;
    const auto genesis = parse_genesis(genesis_bytes);
    if (!genesis) {
        report.failures.push_back({layout.genesis, genesis.error().what, 0});
        return report;
    }
    if (const auto served = check_served(genesis->validators); !served) {
        report.failures.push_back({layout.genesis, served.error().what, 0});
        return report;
    }
    report.chain_id = genesis->chain_id;
    report.genesis = report.tip = genesis->hash();
    ASSAY_ASSIGN(const auto file, open_blocks(home));
    ASSAY_ASSIGN(report.bytes, file->size());
    ASSAY_ASSIGN(const Bytes header, file->read(0, kLogHeaderSize));
    if (header != log_header(report.genesis)) {
        report.failures.push_back({layout.log, "its header is damaged or belongs to another genesis", 0});
        return report;
    }
    if (const auto made = machine.genesis(report.state, *genesis); !made) {
        report.failures.push_back({layout.genesis, made.error().what, 0});
        return report;
    }
    if (const auto held = machine.check_invariants(report.state); !held) {
        report.failures.push_back({layout.genesis, held.error().what, 0});
        return report;
    }
    ASSAY_TRY(walk(machine, *genesis, *file, anchors, report));
    return report;
}

}  // namespace assay::ledger
