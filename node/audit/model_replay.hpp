// SPDX-License-Identifier: Apache-2.0
// Gives the audit of a model ModelReplay, which recomputes any unit, update or merge that a birth certificate
// claims. A worker computes it from the bytes that are at hand, or else from an earlier state, at worst from
// the job's start. Results on the way are compared too, and remembered.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "node/audit/array_tile.hpp"
#include "node/audit/birth_certificate.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// Access to bytes. The reader checks their content.
struct AuditBytes {
    /// Returns a file with the blob of this id; null when nobody has it, whatever the reason.
    std::function<frames::SharedDescriptor(const base::Hash256& blob)> find;
    /// Ids of blobs that are at hand and no larger than a state's head.
    std::function<std::vector<base::Hash256>()> small;
    /// Keeps recomputed bytes, so that find() has them.
    std::function<base::Outcome<void>(base::ByteView bytes)> keep;
};

/// A unit of a slot's round: a segment, or `finalise` (RoundPlan).
struct UnitPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
    friend auto operator<=>(const UnitPlace&, const UnitPlace&) = default;
};

/// A tile of an array that a slot's `finalise` or a round's merge made.
struct TilePlace {
    std::uint32_t round = 0;
    std::optional<std::uint32_t> slot;  ///< of an update; nothing: of the merged state
    bool is_outer = false;              ///< of a merge: of the outer momentum
    std::uint32_t tensor = 0;
    std::uint64_t tile = 0;
};
std::string to_text(const UnitPlace& place, const program::JobSpec& spec);
std::string to_text(const TilePlace& place, const program::JobSpec& spec);

enum class ClaimState : std::uint8_t {
    kRight,  ///< recomputed, and as claimed
    kFalse,  ///< recomputed, and other than claimed
    kGone,   ///< the bytes that it is computed from are gone, and cannot be made again
};

struct ClaimFinding {
    ClaimState state = ClaimState::kGone;
    std::string why;  ///< for people: how it differs, or what is missing; empty when right
};

/// Judges what was drawn. An interface, so that tests can use recorded findings instead.
class ClaimJudge {
public:
    virtual ~ClaimJudge() = default;
    /// Errors are about this machine only, and say nothing about the claim.
    virtual base::Outcome<ClaimFinding> judge(const UnitPlace& place) = 0;
    virtual base::Outcome<ClaimFinding> judge(const TilePlace& place) = 0;
    /// False claims found so far, other than those that judge() was asked about.
    [[nodiscard]] virtual std::vector<MetFault> met() const = 0;
};

class ModelReplay final : public ClaimJudge {
public:
    /// REQUIRES a certificate without contradictions(), whose job is open in the worker. All references
    /// outlive this. `ends`: whether the time is over; called only before an earlier round is computed again,
    /// whose result then counts as gone. A unit and its slot's round are always finished.
    ModelReplay(WorkerClient& worker, const BirthCertificate& certificate, AuditBytes bytes,
                std::function<bool()> ends);

    base::Outcome<ClaimFinding> judge(const UnitPlace& place) override;
    base::Outcome<ClaimFinding> judge(const TilePlace& place) override;
    [[nodiscard]] std::vector<MetFault> met() const override;

private:
    using Files = std::vector<frames::SharedDescriptor>;
    /// A value that is at hand, or the reason why not.
    template <class T>
    struct Maybe {
        std::optional<T> is;
        std::string why;
    };
    /// The point that the replay of a slot has reached.
    struct SlotEnd {
        Files files;         ///< of the state at a boundary; after `finalise`, of the update
        base::Hash256 root;  ///< of the state
    };

    [[nodiscard]] const CertifiedRound& round(std::uint32_t number) const;
    [[nodiscard]] const CertifiedSlot& slot(const UnitPlace& place) const;

    base::Outcome<Maybe<frames::SharedDescriptor>> base_of(std::uint32_t round);
    void remember_base(std::uint32_t round, const frames::SharedDescriptor& base);
    base::Outcome<frames::SharedDescriptor> stored_base(std::uint32_t round);
    base::Outcome<frames::SharedDescriptor> base_file(const base::Hash256& blob,
                                                      const base::Hash256& claimed);
    base::Outcome<Maybe<frames::SharedDescriptor>> merge(std::uint32_t round,
                                                         const frames::SharedDescriptor& base);
    base::Outcome<Maybe<frames::SharedDescriptor>> update_of(std::uint32_t round, std::uint32_t slot);
    base::Outcome<Maybe<Files>> updates_of(std::uint32_t round);
    base::Outcome<Maybe<Files>> carried_of(const UnitPlace& place);
    /// The state that the certificate claims at the start of the unit, from bytes at hand; nothing when they
    /// are gone.
    base::Outcome<std::optional<SlotEnd>> claimed_start(const UnitPlace& place);
    /// Computes units 0 to `last.unit` from the round's base and compares each; returns the end of the last.
    base::Outcome<Maybe<SlotEnd>> replay_slot(const UnitPlace& last);
    base::Outcome<void> keep_end(const UnitPlace& place, const SlotEnd& end);
    /// Computes and compares one unit. Nothing: its start is not what it should be.
    base::Outcome<std::optional<SlotEnd>> compute(const UnitPlace& place, const SlotEnd& start);
    base::Outcome<Maybe<SlotEnd>> end_of(const UnitPlace& finalise);
    Files files_of(const base::Hash256& head, std::span<const program::StateArray> arrays);
    base::Outcome<std::optional<base::Hash256>> root_of(frames::BulkKind kind, const Files& files);
    base::Outcome<ClaimFinding> judge_update(const TilePlace& place);
    base::Outcome<ClaimFinding> judge_merge(const TilePlace& place);
    void note(const UnitPlace& place, ClaimFinding finding);

    WorkerClient& worker_;
    const BirthCertificate& certificate_;
    program::RoundPlan plan_;
    AuditBytes bytes_;
    std::function<bool()> ends_;
    std::map<UnitPlace, ClaimFinding> units_;
    std::map<std::uint32_t, std::string> false_merges_;
    std::map<base::Hash256, base::Hash256> heads_;  ///< ids of heads, by the root that they name
    bool heads_known_ = false;
    std::map<std::uint32_t, frames::SharedDescriptor> bases_;  ///< checked ones
};

}  // namespace assay::node
