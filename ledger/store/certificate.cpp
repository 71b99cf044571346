// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/certificate.hpp"

#include <algorithm>
#include <array>

namespace assay::ledger {

namespace {

// One signature, the proposer's: the power of one validator decides.
bool one_decides(const contracts::ValidatorSet& validators) {
    const auto& all = validators.validators;
    return std::any_of(all.begin(), all.end(), [&](const contracts::Validator& validator) {
        return validators.decides(validator.power);
    });
}

std::optional<std::string> signature_fault(const Block& block, std::string_view chain_id,
                                           const contracts::ValidatorSet& validators) {
    const std::uint64_t power = validators.power_of(block.header.proposer);
    if (power == 0) return "made by a key that is no validator's";
    if (!validators.decides(power)) {
        return "signed by validators with " + std::to_string(power) + " of " +
               std::to_string(validators.total_power()) + " votes: more than two thirds decide";
    }
    if (!verify_header(block.header, block.signature, chain_id))
        return "the proposer's signature does not verify";
    return std::nullopt;
}

constexpr std::array kKinds = {CertificateKind{
    .block_version = kBlockVersion, .engine = "embedded", .serves = one_decides, .fault = signature_fault}};

}  // namespace

const CertificateKind* certificate_kind(std::uint32_t block_version) {
    for (const CertificateKind& kind : kKinds) {
        if (kind.block_version == block_version) return &kind;
    }
    return nullptr;
}

Outcome<void> check_served(const contracts::ValidatorSet& validators) {
    std::string engines;
    for (const CertificateKind& kind : kKinds) {
        if (kind.serves(validators)) return {};
        engines += (engines.empty() ? "" : ", ") + std::string(kind.engine);
    }
    return base::fail(
        base::ErrorKind::kUsage,
        "the genesis names " + std::to_string(validators.validators.size()) +
            " validators, none of whom holds more than two thirds of the votes: no engine of this "
            "build (" +
            engines + ") makes blocks for them",
        "run an engine on which validators agree, or name one that decides");
}

}  // namespace assay::ledger
