// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/batch_map.hpp"

#include "contracts/base/check.hpp"

namespace assay::program {

std::uint64_t sequence_count(std::uint64_t tokens, std::uint32_t context) {
    return tokens == 0 ? 0 : (tokens - 1) / context;
}

BatchMap::BatchMap(const JobSpec& spec)
    : seed_(spec.seed),
      sequences_(sequence_count(spec.data.train_tokens, spec.model.context)),
      inner_steps_(spec.train.inner_steps),
      slots_(spec.slots),
      batch_(spec.train.batch),
      context_(spec.model.context) {
    ASSAY_CHECK(sequences_ >= 1);
}

std::uint64_t BatchMap::sequence(const BatchPlace& place) const {
    ASSAY_CHECK(place.step < inner_steps_ && place.slot < slots_ && place.index < batch_);
    const std::uint64_t counter =
        ((place.round * inner_steps_ + place.step) * slots_ + place.slot) * batch_ + place.index;
    return arithmetic::Permutation(seed_, counter / sequences_, sequences_)(counter % sequences_);
}

}  // namespace assay::program
