// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/state_head.hpp"

#include <string_view>

#include "contracts/base/bytes.hpp"
#include "contracts/base/check.hpp"

namespace assay::program {

using base::DecodeError;

namespace {

constexpr std::string_view kMagic = "AHEAD001";

template <class Roots>
auto& component(Roots& roots, StateArray array) {
    switch (array) {
        case StateArray::kParameters: return roots.parameters;
        case StateArray::kFirstMoment: return roots.first_moment;
        case StateArray::kSecondMoment: return roots.second_moment;
        case StateArray::kResidual: return roots.residual;
        case StateArray::kOuterMomentum: return roots.outer;
    }
    ASSAY_CHECK(false);
}

}  // namespace

const StatePart* StateHead::part(StateArray array) const {
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const StatePart& one) { return one.array == array; });
    return found == parts.end() ? nullptr : &*found;
}

base::Bytes encode_state_head(const StateHead& head) {
    base::Bytes bytes = base::to_bytes(base::as_bytes(kMagic));
    const base::Bytes record = base::encode(head);
    bytes.insert(bytes.end(), record.begin(), record.end());
    return bytes;
}

base::Result<StateHead, DecodeError> decode_state_head(base::ByteView bytes) {
    if (bytes.size() > kMaxHeadBytes) return base::failed(DecodeError::kTooLong);
    if (bytes.size() < kMagic.size() || base::as_text(bytes.first(kMagic.size())) != kMagic) {
        return base::failed(DecodeError::kBadVariant);
    }
    ASSAY_ASSIGN(auto head, base::decode<StateHead>(bytes.subspan(kMagic.size())));
    for (const StatePart& part : head.parts) {
        if (head.part(part.array) != &part) return base::failed(DecodeError::kUnsortedKeys);
    }
    return head;
}

bool fits(const StateHead& head, std::span<const StateArray> arrays, bool aged) {
    return head.age.has_value() == aged &&
           std::equal(head.parts.begin(), head.parts.end(), arrays.begin(), arrays.end(),
                      [](const StatePart& part, StateArray array) { return part.array == array; });
}

StateRoots roots_of(const StateHead& head) {
    StateRoots roots;
    for (const StatePart& part : head.parts) component(roots, part.array) = part.root;
    roots.step_count = head.step;
    roots.data_cursor = head.cursor;
    roots.moment_age = head.age;
    return roots;
}

const Hash256& root_of(const StateRoots& roots, StateArray array) { return component(roots, array); }

}  // namespace assay::program
