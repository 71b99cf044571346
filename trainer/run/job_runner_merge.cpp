// SPDX-License-Identifier: Apache-2.0
// JobRunner: merges of the accepted updates of a round.
#include <algorithm>
#include <new>
#include <utility>

#include "contracts/arithmetic/update.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"
#include "trainer/step/adopted.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer {

using base::ErrorKind;

const RoundLaw& JobRunner::law() const { return impl_->law; }

base::Outcome<std::vector<MergedUpdate>> JobRunner::Impl::merged_updates(
    std::span<const AcceptedUpdate> accepted) const {
    std::vector<MergedUpdate> updates;
    updates.reserve(accepted.size());
    for (const AcceptedUpdate& one : accepted) {
        if (!one.packed && one.update == nullptr)
            return base::fail(ErrorKind::kUsage, "an update is missing");
        const UpdateNumbers numbers = one.packed ? *one.packed : UpdateNumbers(one.update->values);
        if (numbers.size() != parameters) return base::fail(ErrorKind::kUsage, "an update is of another job");
        if (!arithmetic::is_in_range({{}, one.weight, one.clip}))
            return base::fail(ErrorKind::kUsage, "the weight or the clip of an update is out of range");
        updates.push_back({numbers, one.weight, one.clip});
    }
    return updates;
}

base::Outcome<BaseState> JobRunner::merge(BaseState base, std::span<const AcceptedUpdate> accepted,
                                          const Watch& watch) {
    constexpr std::size_t kMaxUpdates = 1024;
    const auto updates = impl_->merged_updates(accepted);
    const bool fits = base.parameters.size() == impl_->parameters &&
                      base.outer_momentum.size() == impl_->parameters && accepted.size() <= kMaxUpdates;
    if (!fits || !updates.ok()) {
        return base::fail(ErrorKind::kFailure, "merge: a base state or update is not one of this job",
                          "fetch the files that the ledger names for the round");
    }
    BaseState next = std::move(base);
    next.step += impl_->spec.train.inner_steps;
    if (accepted.empty()) return next;
    ASSAY_TRY(impl_->device->check());
    ASSAY_ASSIGN(const bool finite, impl_->merge(*updates, next, watch));
    ASSAY_TRY(impl_->device->check());
    if (!finite) {
        return base::fail(ErrorKind::kRejected, "merge: the merged state is not finite",
                          "lower outer_learning_rate or learning_rate in the job");
    }
    return next;
}

base::Outcome<bool> JobRunner::Impl::merge(std::span<const MergedUpdate> updates, BaseState& next,
                                           const Watch& watch) {
    try {
        Adopted parameter_array(*device, next.parameters, Adoption::kStreamed);
        Adopted outer_momentum(*device, next.outer_momentum, Adoption::kStreamed);
        const std::uint64_t cut = numbers_at_a_time(law, updates);
        std::vector<std::vector<std::int64_t>> rooms(updates.size());
        std::vector<program::Contribution> contributions(updates.size());
        bool finite = true;
        for (std::uint64_t first = 0; first < parameters; first += cut) {
            if (first > 0) watch.begin_batch();
            if (watch.cancelled()) return base::fail(ErrorKind::kInterrupted, "the merge was cancelled");
            const std::uint64_t count = std::min(cut, parameters - first);
            for (std::size_t i = 0; i < updates.size(); ++i) {
                ASSAY_ASSIGN(const auto numbers, updates[i].numbers.part(first, count, rooms[i]));
                contributions[i] = {numbers, updates[i].weight, updates[i].clip};
            }
            ASSAY_ASSIGN(const bool part_finite,
                         device->merge(law, contributions, parameter_array.array().subspan(first, count),
                                       outer_momentum.array().subspan(first, count)));
            finite = finite && part_finite;
        }
        parameter_array.sync();
        outer_momentum.sync();
        return finite;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, kTrainingStep);
    }
}

}  // namespace assay::trainer
