// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/launch/attention.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
template <AttentionOutput kOutput>
void start(LaunchStream stream, const AttentionI16Args& args, unsigned sequences) {
    using Kernel = AttentionI16<kOutput>;
    launch<Kernel>(Kernel::grid(args, sequences), stream, args);
}
}  // namespace

bool has_room_for_attention() {
    using enum AttentionOutput;
    return most_shared_bytes() >=
           std::max({sizeof(AttentionI16<kValues>::Shared), sizeof(AttentionI16<kQueryGradient>::Shared),
                     sizeof(AttentionI16<kValueGradient>::Shared),
                     sizeof(AttentionI16<kKeyGradient>::Shared)});
}

void attention_i16(LaunchStream stream, AttentionOutput output, const AttentionI16Args& args,
                   unsigned sequences) {
    using enum AttentionOutput;
    const auto is_by_token = [](const DigitPlace& place) {
        return place.planes == 2 && place.line_words() == attention::kTokenWords;
    };
    ASSAY_CHECK(can_fuse_attention(args.numbers.place.lines) && args.numbers.place.planes == 2 &&
                args.numbers.place.block == attention::kBlock && is_by_token(args.q.place) &&
                is_by_token(args.k.place));
    if (args.tokens == 0 || sequences == 0) return;
    switch (output) {
        case kValues: return start<kValues>(stream, args, sequences);
        case kQueryGradient: return start<kQueryGradient>(stream, args, sequences);
        case kValueGradient: return start<kValueGradient>(stream, args, sequences);
        case kKeyGradient: return start<kKeyGradient>(stream, args, sequences);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
