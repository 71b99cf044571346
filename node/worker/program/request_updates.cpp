// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/request_updates.hpp"

#include <string>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "node/worker/program/request_files.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::verifier {

using base::Result;
using frames::Refusal;
using frames::RefusalReason;

Result<void, Refusal> RequestUpdates::add(const frames::SharedDescriptor& file, const Claimed& claimed) {
    const program::JobSpec& spec = runner_.spec();
    const std::uint64_t parameters = runner_.parameter_count();
    ASSAY_ASSIGN(frames::Mapping mapping, map_file(file));
    auto decoded = trainer::decode_update(mapping.bytes(), parameters, spec);
    if (!decoded.ok()) return refuse(RefusalReason::kBadBytes, decoded.error().what);
    if (runner_.update_root(*decoded) != claimed.root) {
        return refuse(RefusalReason::kBadBytes, "the update of slot " + std::to_string(claimed.slot) +
                                                    " is not the accepted one (root " + claimed.root.brief() +
                                                    ")");
    }
    trainer::AcceptedUpdate accepted{.slot = claimed.slot, .weight = claimed.weight};
    accepted.clip = claimed.clip ? *claimed.clip : program::update_clip(spec, decoded->values);
    if (trainer::UpdateNumbers::reads_packed(runner_.law())) {
        accepted.packed = trainer::UpdateNumbers(runner_.law(), mapping.bytes(), parameters);
        mappings_.push_back(std::move(mapping));
    } else {
        accepted.update = &decoded_.emplace_back(std::move(decoded).value());
    }
    accepted_.push_back(std::move(accepted));
    return {};
}

}  // namespace assay::verifier
