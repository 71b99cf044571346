// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/update_numbers.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/strategies/codecs.hpp"

namespace assay::trainer {

namespace {
// 32 MiB of decoded numbers, or 256 KiB of each slot's where slots are many: enough for the threads of a
// machine to share each part.
constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 22;
constexpr std::uint64_t kLeastOfEach = std::uint64_t{1} << 15;
}  // namespace

bool UpdateNumbers::reads_packed(const RoundLaw& law) { return program::packed_width(*law.row.codec) > 0; }

UpdateNumbers::UpdateNumbers(const RoundLaw& law, base::ByteView file, std::uint64_t count)
    : file_(file), codec_(law.row.codec), settings_(law.settings), count_(count) {
    const std::uint64_t width = program::packed_width(*codec_);
    ASSAY_CHECK(width > 0 && file.size() == codec_->magic.size() + count * width);
}

base::Outcome<std::span<const std::int64_t>> UpdateNumbers::part(std::uint64_t first, std::uint64_t count,
                                                                 std::vector<std::int64_t>& room) const {
    ASSAY_CHECK(first <= count_ && count <= count_ - first);
    if (!is_packed()) return values_.subspan(first, count);
    if (room.size() < count) room.resize(count);
    const std::span<std::int64_t> out = std::span(room).first(count);
    const std::uint64_t width = program::packed_width(*codec_);
    const base::ByteView packed = file_.subspan(codec_->magic.size() + first * width, count * width);
    if (codec_->decode(settings_, packed, out))
        return base::fail(base::ErrorKind::kVerification, "an update's file changed while it was read",
                          "fetch the update again, and check the disk");
    return std::span<const std::int64_t>(out);
}

std::uint64_t numbers_at_a_time(const RoundLaw& law, std::span<const MergedUpdate> updates) {
    ASSAY_CHECK(!updates.empty());
    const std::uint64_t all = updates.front().numbers.size();
    const bool packed = std::any_of(updates.begin(), updates.end(),
                                    [](const MergedUpdate& one) { return one.numbers.is_packed(); });
    if (!packed || law.row.outer->cut == program::ArrayCut::kNowhere) return all;
    return std::min(all, std::max(kLeastOfEach, kMostNumbers / updates.size()));
}

}  // namespace assay::trainer
