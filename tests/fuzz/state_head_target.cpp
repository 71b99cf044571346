// SPDX-License-Identifier: Apache-2.0
// Heads of slot states, which come from peers: any bytes give a head that encodes to the same bytes, or a
// reason.
#include "contracts/base/check.hpp"
#include "contracts/program/state_head.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() {
    using enum program::StateArray;
    std::vector<base::Bytes> out;
    for (const std::optional<std::uint64_t> age : {std::optional<std::uint64_t>(), std::optional(5UL)}) {
        program::StateHead head{.step = 3, .cursor = 9, .age = age, .parts = {}};
        out.push_back(program::encode_state_head(head));
        for (const auto array : {kParameters, kFirstMoment, kSecondMoment}) {
            const base::Hash256 root = base::hash("test", program::encode_state_head(head));
            head.parts.push_back({array, root, root});
        }
        out.push_back(program::encode_state_head(head));
    }
    return out;
}

void run(base::ByteView input) {
    const auto head = program::decode_state_head(input);
    if (!head.ok()) return;
    const base::Bytes again = program::encode_state_head(*head);
    ASSAY_CHECK(base::ByteView(again).size() == input.size());
    ASSAY_CHECK(std::equal(again.begin(), again.end(), input.begin()));
    for (const program::StatePart& part : head->parts) {
        ASSAY_CHECK(head->part(part.array) == &part);
        ASSAY_CHECK(program::root_of(program::roots_of(*head), part.array) == part.root);
    }
}

}  // namespace assay::fuzz
