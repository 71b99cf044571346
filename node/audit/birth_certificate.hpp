// SPDX-License-Identifier: Apache-2.0
// Gives a model folder its birth certificate: the job, every claim that went into the model, and what was
// paid for them, so that anyone can check later whether the model is what it claims to be. The certificate
// alone shows that its claims are consistent; recomputing shows that they are true; the ledger shows that
// they are the ones that were paid (docs/formats/birth-certificate.md).
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
    contracts::CarriedIn carried_in;  ///< the state that it went on with; all zero: nothing
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
    contracts::MergeClaim result;             ///< the merge that stands; if nothing was merged, as the ledger
                                              ///< has it
    std::vector<std::uint32_t> merged_slots;  ///< ascending
    std::vector<CertifiedSlot> slots;         ///< ascending
    std::vector<contracts::SettlementLine> lines;
    /// As the ledger had it when the certificate was made: the claims in the model that had died, ascending
    /// by game, and whether any other could still be challenged or was in a game.
    std::vector<DefeatedClaim> defeated;
    bool windows_open = false;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.round, self.base_root, self.base_blob, self.beacon, self.merged, self.result,
              self.merged_slots, self.slots, self.lines, self.defeated, self.windows_open);
    }
    [[nodiscard]] const CertifiedSlot* slot(std::uint32_t number) const;  ///< null: the slot opened nothing
};

struct BirthCertificate {
    std::string chain_id;
    base::Hash256 job;
    program::JobSpec spec;               ///< data, first state and law of the job
    std::vector<CertifiedRound> rounds;  ///< 0, 1, … to the one whose merge gave the model
    base::Hash256 parameters;            ///< array root of the model's parameters
    base::Hash256 outer;                 ///< array root of the outer momentum in the same state
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.chain_id, self.job, self.spec, self.rounds, self.parameters, self.outer);
    }
};

/// A fault that was found in a model.
struct MetFault {
    std::string where;
    std::string what;
};

inline constexpr std::uint64_t kMaxCertificateBytes = std::uint64_t{1} << 30;

/// "ACERT002" ‖ canonical encoding.
base::Bytes encode_certificate(const BirthCertificate& certificate);
/// Strict: kBadVariant for other first bytes.
base::Result<BirthCertificate, base::DecodeError> decode_certificate(base::ByteView bytes);
/// H("assay/certificate", file), which enters the randomness of a sample.
base::Hash256 certificate_root(base::ByteView file);

/// Lists what in the certificate contradicts the rest of it, one sentence each; empty: nothing does. Checks
/// the spec's limits; numbers and order of rounds and slots; that each base is the result before it; each
/// trace's shape, and that it opens its seal; what slots carry; who may be merged; the amounts of each line;
/// who can have lost which game; and that the last result is the state with these parameters.
std::vector<std::string> contradictions(const BirthCertificate& certificate);

/// Reads an opened trace of a settled round from where the state's owner keeps it. Nothing: the slot opened
/// none.
using RevealSource =
    std::function<base::Outcome<std::optional<contracts::Reveal>>(std::uint32_t round, std::uint32_t slot)>;
/// Reads them from a state into which they were put back (ledger/audit/evidence.hpp).
RevealSource reveals_in(const contracts::StateView& state, const base::Hash256& job);

/// The certificate of the model whose base state is `base_blob`, without `parameters` and `outer`. kNotFound
/// when no settled round of the job has that result.
base::Outcome<BirthCertificate> certify(const contracts::StateView& state, const contracts::Job& job,
                                        const std::string& chain_id, const base::Hash256& base_blob,
                                        const RevealSource& reveals);

/// The rounds whose windows were open when the certificate was made, ascending.
std::vector<std::uint32_t> open_rounds(const BirthCertificate& certificate);

/// "round 4", "rounds 1, 3–5". REQUIRES ascending rounds.
std::string rounds_text(const std::vector<std::uint32_t>& rounds);

/// Lists where a certificate differs from the one that the ledger gives for the same rounds; empty: nowhere.
/// The ledger's may be later: a round whose windows were open may have none open now. A claim that died
/// since, and that the certificate does not name, is a difference.
std::vector<std::string> differences(const BirthCertificate& certificate, const BirthCertificate& ledgers);

}  // namespace assay::node
