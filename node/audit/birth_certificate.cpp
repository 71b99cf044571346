// SPDX-License-Identifier: Apache-2.0
#include "node/audit/birth_certificate.hpp"

#include <algorithm>

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::string_view kMagic = "ACERT002";

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

/// What is said against the claims of a job.
struct JobDisputes {
    const contracts::StateView& state;
    base::Hash256 job;
    std::vector<contracts::Game> games;

    JobDisputes(const contracts::StateView& of, const base::Hash256& id)
        : state(of), job(id), games(contracts::list_games(of, id)) {}

    /// A dead claim stays for a while for those who vouched for it.
    [[nodiscard]] bool has_window(const CertifiedRound& round) const {
        const auto open = contracts::list_claims(state, job, round.round);
        return std::any_of(open.begin(), open.end(), [&](const auto& entry) {
            const auto& [id, claim] = entry;
            return !claim.dead && is_in_model(round, id.kind, id.number, claim.node);
        });
    }
};

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
                       .lines = contracts::list_settlement(state, job.id, round.number),
                       .defeated = {}};
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
    const JobDisputes disputes(state, job.id);
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round(state, job.id, number);
        if (!round || round->phase != contracts::RoundPhase::kSettled) break;
        ASSAY_ASSIGN(CertifiedRound made, certify_round(state, job, *round, reveals));
        made.defeated = defeats_in(made, disputes.games);
        made.windows_open = disputes.has_window(made);
        out.rounds.push_back(std::move(made));
        if (round->merged && round->result.base_blob == base_blob) return out;
    }
    return fail(ErrorKind::kNotFound,
                "no settled round of job " + job.id.brief() + " gave the state " + base_blob.brief());
}

std::vector<std::uint32_t> open_rounds(const BirthCertificate& certificate) {
    std::vector<std::uint32_t> open;
    for (const CertifiedRound& round : certificate.rounds)
        if (round.windows_open) open.push_back(round.round);
    return open;
}

std::string rounds_text(const std::vector<std::uint32_t>& rounds) {
    std::string text = rounds.size() == 1 ? "round " : "rounds ";
    for (std::size_t i = 0; i < rounds.size();) {
        std::size_t last = i;
        while (last + 1 < rounds.size() && rounds[last + 1] == rounds[last] + 1) ++last;
        if (i > 0) text += ", ";
        text += std::to_string(rounds[i]);
        if (last > i) text += "–" + std::to_string(rounds[last]);
        i = last + 1;
    }
    return text;
}

namespace {

base::Bytes without_disputes(CertifiedRound round) {
    round.defeated.clear();
    round.windows_open = false;
    return base::encode(round);
}

bool names(const CertifiedRound& round, const DefeatedClaim& defeat) {
    return std::find(round.defeated.begin(), round.defeated.end(), defeat) != round.defeated.end();
}

void add_dispute_differences(const CertifiedRound& certified, const CertifiedRound& ledgers,
                             std::vector<std::string>& found) {
    const std::uint32_t number = ledgers.round;
    for (const DefeatedClaim& defeat : ledgers.defeated) {
        if (names(certified, defeat)) continue;
        found.push_back(claim_name(defeat, number) + " lost dispute " + std::to_string(defeat.game) +
                        " after it was merged, and the certificate does not say so" +
                        (certified.windows_open ? ": it names the windows of that round as open, so fetch "
                                                  "the model again"
                                                : ""));
    }
    for (const DefeatedClaim& defeat : certified.defeated) {
        if (!names(ledgers, defeat))
            found.push_back("the certificate says that " + claim_name(defeat, number) + " lost dispute " +
                            std::to_string(defeat.game) + ", and the ledger has no such end");
    }
    // Windows end, and none begins again.
    if (!certified.windows_open && ledgers.windows_open)
        found.push_back("the windows of round " + std::to_string(number) +
                        " are open on the ledger, and the certificate says that they were over");
}

}  // namespace

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
        add_dispute_differences(certificate.rounds[i], ledgers.rounds[i], found);
        if (without_disputes(certificate.rounds[i]) == without_disputes(ledgers.rounds[i])) continue;
        const bool lines = base::encode(certificate.rounds[i].lines) != base::encode(ledgers.rounds[i].lines);
        found.push_back("round " + std::to_string(i) + " is another on the ledger" +
                        (lines ? ", its settlement too" : ""));
    }
    return found;
}

}  // namespace assay::node
