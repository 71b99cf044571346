// SPDX-License-Identifier: Apache-2.0
// A birth certificate's bytes, and that every claim in it which does not fit the rest is found.
#include "node/audit/birth_certificate.hpp"

#include "tests/node/audit/born_model.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::tests;

namespace {

const BornModel& born_model() {
    static const BornModel model = [] {
        TinyJob job = born_job();
        job.spec.rounds = 2;
        return BornModel(std::move(job));
    }();
    return model;
}

base::Hash256 other() { return base::hash("assay/test", base::as_bytes("other")); }

/// What contradictions() says of the certificate after a change.
template <class Change>
std::string said_after(Change change) {
    BirthCertificate changed = born_model().born();
    change(changed);
    const auto found = contradictions(changed);
    std::string all;
    for (const std::string& what : found) all += what + "; ";
    return all;
}

/// The claim of a slot that lost a game about its first segment.
DefeatedClaim dead_slot(const BirthCertificate& born, std::uint32_t round, std::uint32_t slot,
                        std::uint32_t game) {
    return {.game = game,
            .claim = contracts::ClaimKind::kSlot,
            .number = slot,
            .claimant = born.rounds[round].slots[slot].miner,
            .unit = dispute::UnitKind::kSegment,
            .part = 0,
            .reason = contracts::Reason::kDisputeLost};
}

void check_named(const std::string& said, const std::string& what) {
    INFO(said);
    CHECK(said.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("a certificate is one canonical file") {
    const base::Bytes file = encode_certificate(born_model().born());
    CHECK(base::as_text(base::ByteView(file).first(8)) == "ACERT002");
    const auto again = decode_certificate(file);
    REQUIRE(again.ok());
    CHECK(encode_certificate(*again) == file);
    CHECK(contradictions(*again).empty());
    CHECK(differences(*again, born_model().born()).empty());
    for (std::size_t size = 0; size < file.size(); size += 7)
        CHECK_FALSE(decode_certificate(base::ByteView(file).first(size)).ok());
    base::Bytes longer = file;
    longer.push_back(0);
    CHECK(decode_certificate(longer).error() == base::DecodeError::kTrailingBytes);
    base::Bytes version = file;
    version[7] = '1';
    CHECK(decode_certificate(version).error() == base::DecodeError::kBadVariant);
    CHECK(certificate_root(longer) != certificate_root(file));
}

TEST_CASE("no flipped bit of a certificate goes unnoticed") {
    const base::Bytes file = encode_certificate(born_model().born());
    const base::Hash256 root = certificate_root(file);
    for (std::size_t at = 0; at < file.size(); at += 5) {
        base::Bytes changed = file;
        changed[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        CHECK(certificate_root(changed) != root);
        const auto certificate = decode_certificate(changed);
        if (!certificate.ok()) continue;
        // Against the ledger's own every change shows; without it those that contradict the rest. Only that a
        // ledger may be later than a certificate whose windows were open.
        CHECK(encode_certificate(*certificate) == changed);
        if (!open_rounds(*certificate).empty()) continue;
        const bool is_model = certificate->parameters != born_model().born().parameters ||
                              certificate->outer != born_model().born().outer;
        CHECK((is_model ? !contradictions(*certificate).empty()
                        : !differences(*certificate, born_model().born()).empty()));
    }
}

TEST_CASE("claims that do not fit each other are named") {
    using Born = BirthCertificate;
    CHECK(said_after([](Born&) {}).empty());
    check_named(said_after([](Born& b) { b.spec.slots = 0; }), "the job breaks a rule");
    check_named(said_after([](Born& b) { b.rounds.clear(); }), "0 rounds");
    check_named(said_after([](Born& b) { b.rounds.push_back(b.rounds[1]); }), "3 rounds, the job 2");
    check_named(said_after([](Born& b) { b.rounds[1].round = 0; }), "round 1 has the number 0");
    check_named(said_after([](Born& b) { b.spec.initial_root = other(); }), "the job's first state");
    check_named(said_after([](Born& b) { b.rounds[1].base_root = other(); }), "where the one before ended");
    check_named(said_after([](Born& b) { b.rounds[0].result.base_root = other(); }), "where the one before");
    check_named(said_after([](Born& b) { b.rounds[1].result.base_root = other(); }),
                "that the last round gave");
    check_named(said_after([](Born& b) { b.parameters = other(); }), "that the last round gave");
    check_named(said_after([](Born& b) { b.outer = other(); }), "that the last round gave");
    check_named(said_after([](Born& b) { b.rounds[0].slots[1].slot = 0; }), "stands behind a later one");
    check_named(said_after([](Born& b) { b.rounds[0].slots[1].slot = 2; }), "is none of the job's");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].drawn_units = {5}; }), "does not have");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].drawn_units = {1, 1}; }), "does not have");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].reveal.trace.boundaries.pop_back(); }),
                "another shape");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].reveal.trace.boundaries[2] = other(); }),
                "not the one which was sealed");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].reveal.trace.update = other(); }),
                "was sealed");
    check_named(said_after([](Born& b) { b.rounds[0].slots[0].reveal.salt = other(); }), "was sealed");
    check_named(said_after([](Born& b) { b.rounds[1].slots[1].miner.bytes[0] ^= 1; }), "was sealed");
    check_named(said_after([](Born& b) { b.chain_id = "devnet-other"; }), "was sealed");
    check_named(said_after([](Born& b) { b.rounds[1].slots[0].carried_in.root = other(); }),
                "what the round before handed on");
    check_named(said_after([](Born& b) {
                    b.rounds[0].merged_slots = {1, 0};
                }),
                "other slots than its result");
    check_named(said_after([](Born& b) { b.rounds[0].merged_slots = {0}; }), "other slots than its result");
    check_named(said_after([](Born& b) { b.rounds[0].result.clips = {1}; }), "a clip for each");
    check_named(said_after([](Born& b) {
                    b.rounds[0].result.clips = {65'536, 65'537};
                }),
                "a clip that is none");
    check_named(said_after([](Born& b) { b.rounds[0].slots.erase(b.rounds[0].slots.begin()); }),
                "merged slot 0, which opened nothing");
    check_named(
        said_after([](Born& b) { b.rounds[0].slots[0].verdict = contracts::Reason::kSilentAfterDraw; }),
        "counts for nothing");
    check_named(said_after([](Born& b) { b.rounds[1].merged = false; }), "merged nothing and names slots");
    check_named(said_after([](Born& b) { b.rounds[0].lines[0].paid = base::units(6); }), "does not add up");
    check_named(said_after([](Born& b) { b.rounds[0].lines[0].round = 1; }), "settlement line of another");
}

TEST_CASE("what is said to have been lost in games must be able to be so") {
    using Born = BirthCertificate;
    const auto after = [](auto change) {
        return said_after([&](Born& b) {
            b.rounds[0].defeated = {dead_slot(b, 0, 0, 2)};
            b.rounds[1].defeated = {dead_slot(b, 1, 1, 5)};
            change(b);
        });
    };
    CHECK(after([](Born&) {}).empty());
    CHECK(after([](Born& b) { b.rounds[1].windows_open = true; }).empty());
    const auto is_refused = [&](auto change) {
        check_named(after([&](Born& b) { change(b.rounds[0].defeated[0]); }), "cannot have been lost");
    };
    is_refused([](DefeatedClaim& d) { d.number = 1; });
    is_refused([](DefeatedClaim& d) { d.number = 2; });
    is_refused([](DefeatedClaim& d) { d.claimant.bytes[0] ^= 1; });
    is_refused([](DefeatedClaim& d) { d.part = 9; });
    is_refused([](DefeatedClaim& d) { d.reason = contracts::Reason::kPaid; });
    is_refused([](DefeatedClaim& d) { d.reason = contracts::Reason::kChallengeLost; });
    is_refused([](DefeatedClaim& d) { d.unit = dispute::UnitKind::kMerge; });
    is_refused([](DefeatedClaim& d) { d.unit = dispute::UnitKind::kClip; });
    is_refused([](DefeatedClaim& d) { d.unit = dispute::UnitKind::kCarried; });
    is_refused([](DefeatedClaim& d) {
        d.unit = dispute::UnitKind::kUpdate;
        d.part = 1;
    });
    // Who has no line of a merge that stands has no merge to lose.
    is_refused([](DefeatedClaim& d) {
        d.claim = contracts::ClaimKind::kMerge;
        d.unit = dispute::UnitKind::kMerge;
        d.part = 0;
    });
    check_named(after([](Born& b) { b.rounds[0].defeated.push_back(dead_slot(b, 0, 1, 1)); }),
                "names dispute 1 behind a later one");
    check_named(after([](Born& b) { b.rounds[0].defeated.push_back(dead_slot(b, 0, 0, 3)); }),
                "dies again in dispute 3");
    check_named(after([](Born& b) { b.rounds[1].defeated[0].game = 2; }), "names dispute 2 again");
    check_named(after([](Born& b) {
                    b.rounds[1].merged = false;
                    b.rounds[1].windows_open = true;
                }),
                "merged nothing and has windows open");
}

TEST_CASE("a claim that died must be named as the ledger has it, and windows end but do not begin again") {
    const auto said = [](const BirthCertificate& certificate, const BirthCertificate& ledgers) {
        std::string all;
        for (const std::string& what : differences(certificate, ledgers)) all += what + "; ";
        return all;
    };
    const BirthCertificate clean = born_model().born();
    BirthCertificate dead = clean;
    dead.rounds[0].defeated = {dead_slot(dead, 0, 1, 4)};
    CHECK(said(dead, dead).empty());
    check_named(said(clean, dead),
                "round 0 slot 1 lost dispute 4 after it was merged, and the certificate "
                "does not say so");
    CHECK(said(clean, dead).find("fetch") == std::string::npos);
    check_named(said(dead, clean), "the ledger has no such end");
    BirthCertificate other_unit = dead;
    other_unit.rounds[0].defeated[0].part = 1;
    check_named(said(other_unit, dead), "does not say so");
    check_named(said(other_unit, dead), "no such end");
    // A certificate that was made earlier.
    BirthCertificate early = clean;
    early.rounds[0].windows_open = early.rounds[1].windows_open = true;
    CHECK(said(early, clean).empty());
    check_named(said(early, dead), "fetch the model again");
    check_named(said(clean, early), "the certificate says that they were over");
    CHECK(open_rounds(early) == std::vector<std::uint32_t>{0, 1});
    CHECK(open_rounds(clean).empty());
    CHECK(rounds_text({4}) == "round 4");
    CHECK(rounds_text({0, 2, 3, 4, 7, 8}) == "rounds 0, 2–4, 7–8");
}

TEST_CASE("a carried state must be the one that the round before handed on") {
    TinyJob job = born_job();
    job.spec.rounds = 2;
    job.spec.inner_state = program::InnerState::kCarried;
    const BornModel model(std::move(job));
    CHECK(contradictions(model.born()).empty());
    for (const bool at_all : {false, true}) {
        BirthCertificate changed = model.born();
        changed.rounds[1].slots[0].carried_in = {};
        if (at_all) changed.rounds[1].slots[0].carried_in.root = other();
        CHECK_FALSE(contradictions(changed).empty());
    }
}
