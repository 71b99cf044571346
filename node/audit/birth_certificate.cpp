// SPDX-License-Identifier: Apache-2.0
#include "node/audit/birth_certificate.hpp"

#include <algorithm>

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::string_view kMagic = "ACERT001";

}  // namespace

const CertifiedSlot* CertifiedRound::slot(std::uint32_t number) const {
    const auto found = std::lower_bound(slots.begin(), slots.end(), number,
                                        [](const CertifiedSlot& at, std::uint32_t n) { return at.slot < n; });
    return found != slots.end() && found->slot == number ? &*found : nullptr;
}

base::Bytes encode_certificate(const BirthCertificate& certificate) {
    base::Encoder encoder;
    encoder.raw(base::as_bytes(kMagic));
    encoder(certificate);
    return std::move(encoder).take();
}

base::Result<BirthCertificate, base::DecodeError> decode_certificate(base::ByteView bytes) {
    if (bytes.size() < kMagic.size() || base::as_text(bytes.first(kMagic.size())) != kMagic)
        return base::failed(base::DecodeError::kBadVariant);
    return base::decode<BirthCertificate>(bytes.subspan(kMagic.size()));
}

base::Hash256 certificate_root(base::ByteView file) { return base::hash("assay/certificate", file); }

RevealSource reveals_in(const contracts::StateView& state, const base::Hash256& job) {
    return [&state, job](std::uint32_t round,
                         std::uint32_t slot) -> base::Outcome<std::optional<contracts::Reveal>> {
        return contracts::read_reveal(state, job, round, slot);
    };
}

namespace {

base::Outcome<CertifiedRound> certify_round(const contracts::StateView& state, const contracts::Job& job,
                                            const contracts::Round& round, const RevealSource& reveals) {
    CertifiedRound out{.round = round.number,
                       .base_root = round.base_root,
                       .base_blob = round.base_blob,
                       .beacon = round.beacon,
                       .merged = round.merged,
                       .result = round.result,
                       .merged_slots = round.merged_slots,
                       .slots = {},
                       .lines = contracts::list_settlement(state, job.id, round.number)};
    for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, round.number)) {
        if (!slot.revealed) continue;
        ASSAY_ASSIGN(auto reveal, reveals(round.number, slot.slot));
        if (!reveal) {
            return fail(ErrorKind::kVerification, "the trace that slot " + std::to_string(slot.slot) +
                                                      " of round " + std::to_string(round.number) +
                                                      " opened is not in the ledger's blocks");
        }
        out.slots.push_back({.slot = slot.slot,
                             .miner = slot.miner,
                             .seal = slot.seal,
                             .drawn_units = slot.drawn_units,
                             .verdict = slot.verdict,
                             .carried_in = contracts::carried_in(state, job.id, round.number, slot.slot),
                             .reveal = *std::move(reveal)});
    }
    return out;
}

}  // namespace

base::Outcome<BirthCertificate> certify(const contracts::StateView& state, const contracts::Job& job,
                                        const std::string& chain_id, const base::Hash256& base_blob,
                                        const RevealSource& reveals) {
    BirthCertificate out;
    out.chain_id = chain_id;
    out.job = job.id;
    out.spec = job.spec;
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round(state, job.id, number);
        if (!round || round->phase != contracts::RoundPhase::kSettled) break;
        ASSAY_ASSIGN(CertifiedRound made, certify_round(state, job, *round, reveals));
        out.rounds.push_back(std::move(made));
        if (round->merged && round->result.base_blob == base_blob) return out;
    }
    return fail(ErrorKind::kNotFound,
                "no settled round of job " + job.id.brief() + " gave the state " + base_blob.brief());
}

std::vector<std::string> differences(const BirthCertificate& certificate, const BirthCertificate& ledgers) {
    std::vector<std::string> found;
    if (certificate.chain_id != ledgers.chain_id)
        found.push_back("the ledger is of chain " + ledgers.chain_id + ", the certificate of " +
                        certificate.chain_id);
    if (certificate.job != ledgers.job) found.emplace_back("the ledger's job has another id");
    if (certificate.spec != ledgers.spec) found.emplace_back("the ledger's job has other terms");
    if (certificate.rounds.size() != ledgers.rounds.size())
        found.push_back("the ledger has " + std::to_string(ledgers.rounds.size()) +
                        " rounds up to this model, the certificate " +
                        std::to_string(certificate.rounds.size()));
    for (std::size_t i = 0; i < std::min(certificate.rounds.size(), ledgers.rounds.size()); ++i) {
        if (base::encode(certificate.rounds[i]) == base::encode(ledgers.rounds[i])) continue;
        const bool lines = base::encode(certificate.rounds[i].lines) != base::encode(ledgers.rounds[i].lines);
        found.push_back("round " + std::to_string(i) + " is another on the ledger" +
                        (lines ? ", its settlement too" : ""));
    }
    return found;
}

}  // namespace assay::node
