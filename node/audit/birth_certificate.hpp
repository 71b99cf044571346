// SPDX-License-Identifier: Apache-2.0
// Gives a model folder its birth certificate: the job, every claim that the model is made of, and what was
// paid for them, so that anyone can ask later whether the model is what it says. Without the ledger it shows
// that its claims fit each other; recomputing shows that they are true; the ledger shows that they are the
// ones which were paid (docs/formats/birth-certificate.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "node/audit/defeated_claim.hpp"

namespace assay::node {

/// A slot of a round whose trace was opened.
struct CertifiedSlot {
    std::uint32_t slot = 0;
    base::PublicKey miner;
    base::Hash256 seal;                      ///< of the commit, before the draw
    std::vector<std::uint32_t> drawn_units;  ///< that the ledger's panel recomputed, ascending
    contracts::Reason verdict = contracts::Reason::kNone;
    contracts::CarriedIn carried_in;  ///< what it went on with; all zero: nothing
    contracts::Reveal reveal;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slot, self.miner, self.seal, self.drawn_units, self.verdict, self.carried_in, self.reveal);
    }
};

struct CertifiedRound {
    std::uint32_t round = 0;
    base::Hash256 base_root;  ///< of θ_r
    base::Hash256 base_blob;
    base::Hash256 beacon;
    bool merged = false;
    contracts::MergeClaim result;             ///< that stands; where nothing was merged, as the ledger has it
    std::vector<std::uint32_t> merged_slots;  ///< ascending
    std::vector<CertifiedSlot> slots;         ///< ascending
    std::vector<contracts::SettlementLine> lines;
    /// As the ledger had it when the certificate was made: of the claims that are in the model those that had
    /// died, ascending by game, and whether any of the others could still be challenged or was in a game.
    std::vector<DefeatedClaim> defeated;
    bool windows_open = false;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.round, self.base_root, self.base_blob, self.beacon, self.merged, self.result,
              self.merged_slots, self.slots, self.lines, self.defeated, self.windows_open);
    }
    [[nodiscard]] const CertifiedSlot* slot(std::uint32_t number) const;  ///< null: it opened nothing
};

struct BirthCertificate {
    std::string chain_id;
    base::Hash256 job;
    program::JobSpec spec;               ///< data, first state and law of the job
    std::vector<CertifiedRound> rounds;  ///< 0, 1, … to the one whose merge gave the model
    base::Hash256 parameters;            ///< array root of the model's parameters
    base::Hash256 outer;                 ///< of the outer momentum in the state that holds them
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.chain_id, self.job, self.spec, self.rounds, self.parameters, self.outer);
    }
};

/// Something about a model that does not check.
struct MetFault {
    std::string where;
    std::string what;
};

inline constexpr std::uint64_t kMaxCertificateBytes = std::uint64_t{1} << 30;

/// "ACERT002" ‖ canonical encoding.
base::Bytes encode_certificate(const BirthCertificate& certificate);
/// Strict: kBadVariant for other first bytes.
base::Result<BirthCertificate, base::DecodeError> decode_certificate(base::ByteView bytes);
/// H("assay/certificate", file): what a sample is drawn after.
base::Hash256 certificate_root(base::ByteView file);

/// What in the certificate does not fit the rest of it, one sentence each; empty: all of it does. Looked at:
/// the spec's limits, numbers and order of rounds and slots, that each base is the result before it, each
/// trace's shape and that it opens its seal, what slots carry, who may be merged, the amounts of each line,
/// who can have lost which game, and that the last result is the state with these parameters.
std::vector<std::string> contradictions(const BirthCertificate& certificate);

/// Opened traces of settled rounds, from wherever the state's owner keeps them. Nothing: nobody opened one.
using RevealSource =
    std::function<base::Outcome<std::optional<contracts::Reveal>>(std::uint32_t round, std::uint32_t slot)>;
/// From a state into which they were put back (ledger/audit/evidence.hpp).
RevealSource reveals_in(const contracts::StateView& state, const base::Hash256& job);

/// The certificate of the model whose base state is `base_blob`, but for `parameters` and `outer`.
/// kNotFound: no settled round of the job has that result.
base::Outcome<BirthCertificate> certify(const contracts::StateView& state, const contracts::Job& job,
                                        const std::string& chain_id, const base::Hash256& base_blob,
                                        const RevealSource& reveals);

/// The rounds whose windows were open when the certificate was made, ascending.
std::vector<std::uint32_t> open_rounds(const BirthCertificate& certificate);

/// "round 4", "rounds 1, 3–5": rounds, ascending, in words.
std::string rounds_text(const std::vector<std::uint32_t>& rounds);

/// Where a certificate says something else than the ledger's own of the same rounds; empty: nowhere. The
/// ledger may be later: a round whose windows were open may have none open now. A claim that died since, and
/// that the certificate does not name, is a difference.
std::vector<std::string> differences(const BirthCertificate& certificate, const BirthCertificate& ledgers);

}  // namespace assay::node
