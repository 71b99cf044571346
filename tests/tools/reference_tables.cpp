// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/reference_tables.hpp"

#include "contracts/base/error_names.hpp"
#include "contracts/program/limits.hpp"
#include "contracts/rules/market/params.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/refusals.hpp"
#include "contracts/rules/state/transaction_cost.hpp"
#include "contracts/rules/state/validators.hpp"

namespace assay::docs {

namespace {

using contracts::Consequence;

std::string_view text_of(Consequence consequence) {
    switch (consequence) {
        case Consequence::kNothing: return "none";
        case Consequence::kRefused: return "refused";
        case Consequence::kPaid: return "paid";
        case Consequence::kUnpaid: return "unpaid";
        case Consequence::kPenalty: return "penalty";
        case Consequence::kForfeit: return "bond forfeited";
        case Consequence::kJobEnded: return "job ends";
    }
    return "unknown";
}

std::string_view text_of(contracts::Retry retry) {
    switch (retry) {
        case contracts::Retry::kNever: return "never";
        case contracts::Retry::kWhenChanged: return "when something changed";
        case contracts::Retry::kSoon: return "soon";
    }
    return "unknown";
}

// No default: the compiler asks for the sentence of a new kind.
std::string_view when(base::ErrorKind kind) {
    switch (kind) {
        case base::ErrorKind::kFailure:
            return "disk full, port taken, a child process that cannot be started, a home in use";
        case base::ErrorKind::kUsage:
            return "unknown command, flag or job key; wrong type; value out of range, in `ASSAY_THREADS`, "
                   "`ASSAY_DUTY`, "
                   "`ASSAY_MEMORY`, `ASSAY_DEVICE_MEMORY` and `ASSAY_TARGETS` too; empty or binary text";
        case base::ErrorKind::kNotFound:
            return "no such job, miner, file, key or ledger; `audit replay` found nothing wrong, but lacks a "
                   "blob on which a verdict or a pay rests";
        case base::ErrorKind::kUnreachable: return "the ledger node or a peer did not answer, or not in time";
        case base::ErrorKind::kKey:
            return "wrong passphrase; key file unreadable, damaged, open to others, or of another role";
        case base::ErrorKind::kRejected:
            return "the ledger refused the transaction; the message names its [reason](reasons.md)";
        case base::ErrorKind::kVerification:
            return "bits, a hash, a signature or a sum did not check; every `audit` that finds something: a "
                   "cut "
                   "ledger (`--trust`, a receipt), a block with a refused transaction, false work that was "
                   "paid, a model of which a drawn unit cannot be recomputed";
        case base::ErrorKind::kPreflight:
            return "`assay doctor` found a problem; this machine lacks a named target or device; the memory "
                   "budget "
                   "(`--memory`, `--device-memory`) cannot hold one sequence; a card is lost; the worker's "
                   "self-test computes other bits; known "
                   "answers "
                   "of whoever opens a ledger's state do, or its thread's floating-point mode is "
                   "another; an audit computed the same twice with different results";
        case base::ErrorKind::kInterrupted: return "Ctrl-C";
    }
    return {};
}

}  // namespace

std::string reasons_table() {
    std::string text = head({"number", "name", "consequence", "again", "meaning"});
    for (const contracts::Reason reason : contracts::all_reasons()) {
        const auto retry = contracts::retry(reason);
        const std::string again = retry ? std::string(text_of(*retry)) : "";
        text += line({std::to_string(static_cast<unsigned>(reason)), code(to_text(reason)),
                      std::string(text_of(consequence(reason))), again, std::string(explain(reason))});
    }
    return text;
}

std::string parameters_table() {
    std::string text = head({"name", "default", "minimum", "maximum", "meaning"});
    const contracts::Params defaults;
    for (const contracts::ParamRange& range : contracts::param_ranges()) {
        text += line({code(range.name), grouped(range.get(defaults)), grouped(range.minimum),
                      grouped(range.maximum), std::string(range.meaning)});
    }
    return text;
}

std::string market_parameters_table() {
    std::string text = head({"name", "default", "minimum", "maximum", "meaning"});
    const contracts::MarketParams defaults;
    for (const contracts::MarketParamRange& range : contracts::market_param_ranges()) {
        text += line({code(range.name), grouped(range.get(defaults)), grouped(range.minimum),
                      grouped(range.maximum), std::string(range.meaning)});
    }
    return text;
}

std::string limits_table() {
    const auto limit = [](std::uint64_t value, const char* what) { return line({grouped(value), what}); };
    return head({"at most", "of what"}) + limit(contracts::kMaxTransactionBytes, "bytes of a transaction") +
           limit(contracts::kMaxSegments, "segments of a slot's round") +
           limit(contracts::kMaxInnerSteps, "fingerprints of a trace") +
           limit(contracts::kMaxVerifiers, "verifiers enlisted for a job") +
           limit(contracts::kMaxAsks, "sealed asks for a job") +
           limit(contracts::kMaxClaims, "claims of one opening: slots times units of a slot's round") +
           limit(contracts::kMaxActiveJobs, "running jobs") +
           limit(contracts::kMaxLots, "lots in the market, sealed or standing") +
           limit(contracts::kMaxBids, "bids in the market in one epoch") +
           limit(contracts::kMaxLotsTaken, "lots of one instant lease") +
           limit(contracts::kMaxStanding, "epochs that a lot stands for") +
           limit(contracts::kBlockCostLimit, "units that the transactions of a block cost together") +
           limit(contracts::kMaxValidators, "validators");
}

std::string job_limits_table() {
    const auto family = [](program::Of of) -> std::string {
        if (of == program::Of::kAnyFamily) return "";
        return of == program::Of::kGpt2 ? " (gpt2)" : " (llama)";
    };
    std::string text = head({"key", "JSON", "unit", "range", "rule of"});
    for (const program::Limit& limit : program::limits()) {
        text += line({code(limit.key) + family(limit.of), code(limit.json), std::string(limit.unit),
                      limit.range(), std::string(program::to_text(limit.rule))});
    }
    return text;
}

std::string job_rules_table() {
    std::string text = head({"key", "rule", "rule of"});
    for (const program::SpecRule& rule : program::spec_rules()) {
        text += line({code(rule.key), rule.text(), std::string(program::to_text(rule.rule))});
    }
    return text;
}

std::string exit_codes_table() {
    std::string text = head({"code", "kind", "when"}) + line({"0", "ok", "done"});
    for (int number = 1; number <= 255; ++number) {
        const auto kind = static_cast<base::ErrorKind>(number);
        if (when(kind).empty()) continue;
        text += line({std::to_string(number), std::string(to_text(kind)), std::string(when(kind))});
    }
    return text;
}

const std::vector<PageTable>& reference_tables() {
    static const std::vector<PageTable> tables = {
        {"docs/reference/reasons.md", "reasons", reasons_table},
        {"docs/reference/parameters.md", "parameters", parameters_table},
        {"docs/reference/parameters.md", "market parameters", market_parameters_table},
        {"docs/reference/parameters.md", "limits", limits_table},
        {"docs/reference/limits.md", "job limits", job_limits_table},
        {"docs/reference/limits.md", "job rules", job_rules_table},
        {"docs/reference/operators.md", "operators", operators_table},
        {"docs/reference/exit-codes.md", "exit codes", exit_codes_table},
        {"docs/reference/transactions.md", "transactions", transactions_table},
    };
    return tables;
}

std::string line(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
        text += ' ';
        for (const char c : cell) {
            if (c == '|') text += '\\';
            text += c;
        }
        text += " |";
    }
    return text + '\n';
}

std::string head(const std::vector<std::string>& titles) {
    std::string under = "|";
    for (std::size_t i = 0; i < titles.size(); ++i) under += "---|";
    return line(titles) + under + '\n';
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

}  // namespace assay::docs
