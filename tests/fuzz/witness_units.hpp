// SPDX-License-Identifier: Apache-2.0
// Gives fuzz_witness units of every kind with claims that may be hostile: ways down that the input picks, and
// arrays made of any numbers.
#pragma once

#include <memory>

#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/unit.hpp"
#include "contracts/dispute/way.hpp"
#include "tests/contracts/dispute/step.hpp"

namespace assay::fuzz {

// Bytes that never end.
class HostileBytes {
public:
    explicit HostileBytes(base::ByteView bytes) : bytes_(bytes) {}
    std::uint8_t next() { return bytes_.empty() ? 0 : bytes_[at_++ % bytes_.size()]; }
    std::uint32_t word() {
        std::uint32_t out = 0;
        for (int i = 0; i < 4; ++i) out = (out << 8) | next();
        return out;
    }
    std::uint64_t wide() {
        const std::uint64_t high = word();
        return high << 32U | word();
    }
    bool one_in(unsigned count) { return next() % count == 0; }

private:
    base::ByteView bytes_;
    std::size_t at_ = 0;
};

/// A tile of an operator of a small step, with the witness that wins.
struct FuzzedStep {
    disputed::Step step;
    std::unique_ptr<dispute::StepCommitments> honest;
};
FuzzedStep& fuzzed_step(std::size_t which);

/// Partials of updates, merges and clips of any numbers, weights and clips.
void run_hostile_arrays(HostileBytes& stream);

/// A game of any unit, led by the stream to its witness. The claim is right, or hostile in a field that its
/// claimant may choose.
class Walk {
public:
    Walk(FuzzedStep& at, HostileBytes& stream);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// The way has come to its witness.
    [[nodiscard]] bool has_ended() const;
    /// What wins where the claim is right.
    [[nodiscard]] base::Bytes honest_witness();
    /// Judges, and checks that a right claim wins with that witness alone, and one that cannot be right not.
    void judge(base::ByteView witness);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace assay::fuzz
