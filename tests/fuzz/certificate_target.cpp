// SPDX-License-Identifier: Apache-2.0
// Birth certificates, which come with models from anywhere: any bytes decode to a certificate that encodes to
// the same bytes, and whatever it claims, looking for contradictions and counting what it claims ends.
#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/audit/model_audit.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

base::Hash256 named(const char* what, std::uint32_t number) {
    base::Encoder encoder;
    encoder(std::string(what), number);
    return base::hash("fuzz/certificate", std::move(encoder).take());
}

program::JobSpec spec() {
    program::JobSpec spec;
    spec.name = "fuzz";
    spec.slots = 2;
    spec.rounds = 2;
    spec.model = {program::Family::kGpt2, 1, 4, 2, 4, 5};
    spec.train.inner_steps = 5;
    spec.train.batch = 1;
    spec.train.warmup_steps = 1;
    spec.train.learning_rate = 1e-2F;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 2;
    spec.data.train_tokens = spec.data.held_out_tokens = 64;
    spec.initial_root = named("initial", 0);
    return spec;
}

node::CertifiedSlot slot(const node::BirthCertificate& born, const node::CertifiedRound& round,
                         std::uint32_t number) {
    node::CertifiedSlot slot;
    slot.slot = number;
    slot.verdict = contracts::Reason::kPaid;
    slot.drawn_units = {0, 2};
    program::TraceRecord& trace = slot.reveal.trace;
    for (std::uint32_t i = 0; i <= program::RoundPlan(born.spec).segments(); ++i)
        trace.boundaries.push_back(named("boundary", number * 10 + i));
    for (std::uint32_t i = 0; i < born.spec.train.inner_steps; ++i) trace.fingerprints.push_back({i, i + 1});
    trace.update = named("update", number);
    slot.reveal.salt = named("salt", number);
    slot.seal =
        contracts::commit_seal(born.chain_id, {born.job, round.round, number, slot.miner, round.base_root,
                                               program::trace_root(trace, born.spec, slot.reveal.salt),
                                               contracts::commit_salt(slot.reveal.salt)});
    return slot;
}

node::BirthCertificate certificate() {
    node::BirthCertificate born;
    born.chain_id = "fuzz";
    born.job = named("job", 0);
    born.spec = spec();
    born.parameters = named("parameters", 0);
    born.outer = named("outer", 0);
    program::StateRoots last;
    last.parameters = born.parameters;
    last.outer = born.outer;
    last.step_count = 10;
    base::Hash256 root = born.spec.initial_root;
    base::Hash256 blob;
    for (std::uint32_t number = 0; number < 2; ++number) {
        node::CertifiedRound round;
        round.round = number;
        round.base_root = root;
        round.base_blob = blob;
        for (std::uint32_t at = 0; at < 2; ++at) round.slots.push_back(slot(born, round, at));
        round.merged = true;
        round.merged_slots = {0, 1};
        round.result.slots = contracts::storage_bits(2, round.merged_slots);
        round.result.base_root = number == 1 ? program::state_root(last) : named("base", number);
        round.result.base_blob = named("blob", number);
        contracts::SettlementLine line;
        line.job = born.job;
        line.round = number;
        round.lines.push_back(line);
        line.kind = contracts::LineKind::kMerge;
        line.reason = contracts::Reason::kPaidMerge;
        round.lines.push_back(line);
        node::DefeatedClaim slot;
        slot.game = number * 2;
        slot.number = 1;
        slot.part = number;
        slot.reason = contracts::Reason::kDisputeLost;
        node::DefeatedClaim merge = slot;
        merge.game = slot.game + 1;
        merge.claim = contracts::ClaimKind::kMerge;
        merge.unit = dispute::UnitKind::kMerge;
        merge.number = merge.part = 0;
        round.defeated = {slot, merge};
        round.windows_open = number == 1;
        root = round.result.base_root;
        blob = round.result.base_blob;
        born.rounds.push_back(std::move(round));
    }
    return born;
}

}  // namespace

std::vector<base::Bytes> seeds() {
    const node::BirthCertificate whole = certificate();
    ASSAY_CHECK(node::contradictions(whole).empty());
    node::BirthCertificate empty;
    return {node::encode_certificate(whole), node::encode_certificate(empty)};
}

void run(base::ByteView input) {
    const auto certificate = node::decode_certificate(input);
    if (!certificate.ok()) return;
    const base::Bytes again = node::encode_certificate(*certificate);
    ASSAY_CHECK(std::equal(again.begin(), again.end(), input.begin(), input.end()));
    ASSAY_CHECK(node::differences(*certificate, *certificate).empty());
    if (!node::contradictions(*certificate).empty()) return;
    // What does not contradict itself can be counted and drawn from.
    const node::SegmentPopulation segments = node::segments_of(*certificate);
    ASSAY_CHECK(segments.places.size() == segments.weights.size() && !segments.places.empty());
    const node::TilePopulation tiles(*certificate);
    (void)tiles.at(tiles.count() - 1);
    // What is admitted is a place of the job, with words for it.
    node::KnownDefeats known(*certificate);
    for (const node::DefeatReport& defeat : known.reports()) {
        ASSAY_CHECK(defeat.round < certificate->rounds.size());
        ASSAY_CHECK(!node::unit_name(defeat.claim).empty());
        ASSAY_CHECK(!known.admits(node::MetFault{"nowhere", ""}));
        if (defeat.claim.claim == contracts::ClaimKind::kMerge)
            ASSAY_CHECK(known.admits(node::MetFault{node::claim_name(defeat.claim, defeat.round), ""}));
    }
    ASSAY_CHECK(node::open_rounds(*certificate).size() <= certificate->rounds.size());
    ASSAY_CHECK(node::panels_of(*certificate).recomputed <= node::panels_of(*certificate).population);
}

}  // namespace assay::fuzz
