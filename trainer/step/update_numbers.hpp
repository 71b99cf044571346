// SPDX-License-Identifier: Apache-2.0
// The numbers of updates for merges and disputes, a part at a time: those of many slots together need not fit
// into memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "trainer/step/whole_arrays.hpp"

namespace assay::trainer {

/// A view of an update: numbers in memory, or the packed form of a codec with a fixed width
/// (program::packed_width), such as a mapped file, of which only what is asked for is decoded.
class UpdateNumbers {
public:
    explicit UpdateNumbers(std::span<const std::int64_t> values) : values_(values), count_(values.size()) {}
    /// Whether files of the law's codec can be read a part at a time.
    static bool reads_packed(const RoundLaw& law);
    /// `file`: an update file of so many numbers that decode_update accepts. REQUIRES reads_packed(law).
    UpdateNumbers(const RoundLaw& law, base::ByteView file, std::uint64_t count);

    [[nodiscard]] std::uint64_t size() const { return count_; }
    [[nodiscard]] bool is_packed() const { return !file_.empty(); }
    /// Numbers first to first + count: those in memory, or decoded into `room`, which grows to `count`.
    /// kVerification when the bytes are no longer those of an update. REQUIRES that there are so many.
    base::Outcome<std::span<const std::int64_t>> part(std::uint64_t first, std::uint64_t count,
                                                      std::vector<std::int64_t>& room) const;

private:
    std::span<const std::int64_t> values_;
    base::ByteView file_;
    const program::UpdateCodec* codec_ = nullptr;
    program::RoundSettings settings_;
    std::uint64_t count_ = 0;
};

/// An update of a merge.
struct MergedUpdate {
    UpdateNumbers numbers;
    std::uint64_t weight = 1;
    std::uint32_t clip = arithmetic::kWholeClip;
};

/// How many numbers of each of `updates` a merge holds decoded at a time: all of them where they are in
/// memory, or where the outer optimizer reads an array as a whole. REQUIRES at least one.
std::uint64_t numbers_at_a_time(const RoundLaw& law, std::span<const MergedUpdate> updates);

}  // namespace assay::trainer
