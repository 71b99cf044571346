// SPDX-License-Identifier: Apache-2.0
// Gives the worker's merges, and questions about them, the updates that come with a request. Each file is
// checked as a whole and is then kept as a mapping: decoded, the updates of many slots take more memory than
// any step of their job.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/base/result.hpp"
#include "contracts/worker/frames.hpp"
#include "node/wire/descriptor.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

namespace frames = worker;

class RequestUpdates {
public:
    explicit RequestUpdates(const trainer::JobRunner& runner) : runner_(runner) {}
    // What was read refers to the mappings here.
    RequestUpdates(const RequestUpdates&) = delete;
    RequestUpdates& operator=(const RequestUpdates&) = delete;

    struct Claimed {
        std::uint32_t slot = 0;
        std::uint64_t weight = 1;
        base::Hash256 root;
        std::optional<std::uint32_t> clip = std::nullopt;  ///< computed where none is claimed
    };
    /// Reads a slot's update. kBadBytes for a file that is no update of this job, or one with another root.
    base::Result<void, frames::Refusal> add(const frames::SharedDescriptor& file, const Claimed& claimed);
    /// In the order in which they were added; valid as long as this. An update is packed there, but of a
    /// codec whose files are read as a whole.
    [[nodiscard]] std::span<const trainer::AcceptedUpdate> accepted() const { return accepted_; }

private:
    const trainer::JobRunner& runner_;
    std::vector<frames::Mapping> mappings_;
    std::list<trainer::Update> decoded_;  // at fixed addresses
    std::vector<trainer::AcceptedUpdate> accepted_;
};

}  // namespace assay::verifier
