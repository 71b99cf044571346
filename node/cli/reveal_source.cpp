// SPDX-License-Identifier: Apache-2.0
#include "node/cli/reveal_source.hpp"

#include "contracts/rules/evidence.hpp"
#include "ledger/store/block.hpp"

namespace assay::node {

namespace {

// The state's hash of a record stands where its place does.
std::optional<contracts::LogPlace> place_of(const contracts::StateView& state, const base::Bytes& key) {
    const auto bytes = state.get(key);
    if (!bytes) return std::nullopt;
    const auto place = base::decode<contracts::LogPlace>(*bytes);
    return place.ok() ? std::optional(*place) : std::nullopt;
}

}  // namespace

base::Outcome<std::optional<contracts::Reveal>> reveal_of(LedgerService& ledger,
                                                          const contracts::StateView& state,
                                                          const base::Hash256& job, std::uint32_t round,
                                                          std::uint32_t slot) {
    if (auto open = contracts::read_reveal(state, job, round, slot)) return open;
    const auto place = place_of(state, contracts::reveal_place_key(job, round, slot));
    if (!place) return std::optional<contracts::Reveal>();
    ASSAY_ASSIGN(const base::Bytes bytes, ledger.block(place->height));
    const auto block = base::decode<ledger::Block>(bytes);
    const contracts::Evidence evidence{contracts::reveal_key(job, round, slot), *place};
    for (const base::Bytes& transaction : block.ok() ? block->transactions : std::vector<base::Bytes>()) {
        const auto record = contracts::recover(state, evidence, transaction);
        const auto reveal = record ? base::decode<contracts::Reveal>(*record)
                                   : base::Result<contracts::Reveal, base::DecodeError>(
                                         base::failed(base::DecodeError::kTruncated));
        if (reveal.ok()) return std::optional(*reveal);
    }
    return base::fail(base::ErrorKind::kVerification,
                      "block " + std::to_string(place->height) +
                          " as the node has it does not hold message " + place->transaction.hex(),
                      "ask another node");
}

}  // namespace assay::node
