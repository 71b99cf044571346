// SPDX-License-Identifier: Apache-2.0
#include "node/worker/local_training.hpp"

#include <bit>
#include <cmath>
#include <map>

#include "contracts/program/round_law.hpp"
#include "contracts/program/spec_check.hpp"
#include "contracts/program/state_head.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

/// What a round of a run alone accepts.
std::vector<AcceptedSlot> accepted_in(const program::JobSpec& spec, const LocalTrainingOptions& options,
                                      std::uint32_t round) {
    if (options.record) return options.record->rounds[round].accepted;
    std::vector<AcceptedSlot> all;
    for (std::uint32_t slot = 0; slot < spec.slots; ++slot) all.push_back({slot, 1});
    return all;
}

Outcome<void> must_be(const base::Hash256& computed, const base::Hash256& recorded, std::uint32_t round,
                      const char* which) {
    if (computed == recorded) return {};
    return fail(
        ErrorKind::kVerification,
        "round " + std::to_string(round) + ": the " + which + " root computed here is " + computed.hex() +
            ", the record says " + recorded.hex(),
        "the record, the job file or the data are not those of the run, or somebody's bits are wrong");
}

/// What a slot goes on with in the next round.
struct HandedOn {
    base::Hash256 root;
    std::vector<frames::SharedDescriptor> files;  ///< head and carried arrays
};

/// Runs the rounds and keeps what the result needs.
class LocalRun {
public:
    LocalRun(WorkerClient& worker, const program::JobSpec& spec, const LocalTrainingOptions& options)
        : worker_(worker), spec_(spec), options_(options) {}

    Outcome<LocalTrainingResult> run() {
        ASSAY_TRY(count_steps());
        ASSAY_ASSIGN(StateFile state, initial_state(worker_, options_.initial));
        ASSAY_TRY(note_loss(state, std::nullopt));
        for (std::uint32_t round = 0; round < rounds_; ++round) {
            if (options_.record) {
                ASSAY_TRY(must_be(state.root, options_.record->rounds[round].base_root, round, "base"));
            }
            ASSAY_ASSIGN(state, run_round(round, state));
            if (options_.record) {
                ASSAY_TRY(
                    must_be(state.root, options_.record->rounds[round].result_root, round, "resulting"));
            }
            result_.rounds = round + 1;
            ASSAY_TRY(note_loss(state, mean_train_loss()));
        }
        result_.model_root = state.root;
        result_.base_state = state.bytes;
        result_.tokens = result_.steps * spec_.train.batch * spec_.model.context;
        if (nanoseconds_ > 0) {
            result_.tokens_per_second =
                static_cast<double>(result_.tokens) / (static_cast<double>(nanoseconds_) * 1e-9);
        }
        result_.peak_rss_mib = static_cast<double>(peak_rss_bytes_) / (1024.0 * 1024.0);
        return std::move(result_);
    }

private:
    Outcome<void> count_steps() {
        const std::uint32_t available =
            options_.record ? static_cast<std::uint32_t>(options_.record->rounds.size()) : spec_.rounds;
        rounds_ = options_.rounds == 0 ? available : options_.rounds;
        if (rounds_ > available || rounds_ > spec_.rounds) {
            return fail(ErrorKind::kUsage,
                        std::to_string(rounds_) + " rounds asked for, but the " +
                            (options_.record ? "record" : "job") + " has " + std::to_string(available),
                        "ask for fewer rounds");
        }
        if (options_.record && options_.record->slots != spec_.slots) {
            return fail(ErrorKind::kUsage,
                        "the record has " + std::to_string(options_.record->slots) + " slots, the job " +
                            std::to_string(spec_.slots),
                        "use the record and the job file of the same run");
        }
        for (std::uint32_t round = 0; round < rounds_; ++round) {
            all_steps_ += accepted_in(spec_, options_, round).size() * spec_.train.inner_steps;
        }
        return {};
    }

    Outcome<StateFile> run_round(std::uint32_t round, const StateFile& state) {
        losses_ = 0;
        loss_count_ = 0;
        frames::Merge merge;
        merge.round = round;
        std::map<std::uint32_t, HandedOn> handed_on;
        std::vector<frames::SharedDescriptor> bulk{state.bytes};
        for (const AcceptedSlot& slot : accepted_in(spec_, options_, round)) {
            if (slot.carried_in) {
                ASSAY_TRY(must_be(carried_root(slot.slot), *slot.carried_in, round, "carried"));
            }
            ASSAY_ASSIGN(auto trained, train_slot(round, slot.slot, state));
            if (trained.second.empty()) {
                if (!options_.record) continue;  // it diverged: it adds nothing
                return fail(ErrorKind::kVerification,
                            "round " + std::to_string(round) + ": the record accepts slot " +
                                std::to_string(slot.slot) + ", which diverges here",
                            "the record, the job file or the data are not those of the run");
            }
            merge.accepted.push_back({slot.slot, slot.weight, trained.first.trace.update});
            bulk.push_back(trained.second.front());
            if (trained.first.trace.carried) {
                const program::StrategyRow& row = program::strategy_of(spec_);
                handed_on[slot.slot] = {trained.first.trace.carried->out,
                                        program::narrowed(end_, row.lane_arrays, row.carried_arrays)};
            }
        }
        // A slot that was not accepted starts from nothing in the next round.
        handed_on_ = std::move(handed_on);
        if (merge.accepted.empty()) return state;  // nothing is merged: the state stays
        ASSAY_ASSIGN(auto merged,
                     call_for<frames::BaseStateFrame>(worker_, std::move(merge), std::move(bulk)));
        return StateFile{merged.first.root, merged.second.front()};
    }

    Outcome<std::pair<frames::Trained, std::vector<frames::SharedDescriptor>>> train_slot(
        std::uint32_t round, std::uint32_t slot, const StateFile& state) {
        const std::uint64_t before = result_.steps;
        const auto observe = [&](const WorkerEvent& event) {
            if (std::holds_alternative<frames::Boundary>(event.message) && !event.bulk.empty()) {
                end_ = event.bulk;
            }
            const auto* step = std::get_if<frames::Progress>(&event.message);
            if (step != nullptr && options_.progress) options_.progress(before + step->step + 1, all_steps_);
        };
        frames::Train request;
        request.round = round;
        request.slot = slot;
        std::vector<frames::SharedDescriptor> start{state.bytes};
        request.carried_in = carried_root(slot);
        if (!request.carried_in.is_zero()) {
            const auto& files = handed_on_.at(slot).files;
            start.insert(start.end(), files.begin(), files.end());
        }
        ASSAY_ASSIGN(auto trained,
                     call_for<frames::Trained>(worker_, std::move(request), std::move(start), observe));
        result_.steps += trained.first.trace.fingerprints.size();
        nanoseconds_ += trained.first.nanoseconds;
        peak_rss_bytes_ = std::max(peak_rss_bytes_, trained.first.peak_rss_bytes);
        for (const program::Fingerprint& step : trained.first.trace.fingerprints) {
            losses_ += static_cast<double>(std::bit_cast<float>(step.loss));
            ++loss_count_;
        }
        return trained;
    }

    [[nodiscard]] base::Hash256 carried_root(std::uint32_t slot) const {
        const auto found = handed_on_.find(slot);
        return found == handed_on_.end() ? base::Hash256() : found->second.root;
    }

    std::optional<double> mean_train_loss() const {
        if (loss_count_ == 0) return std::nullopt;
        return losses_ / static_cast<double>(loss_count_);
    }

    Outcome<void> note_loss(const StateFile& state, std::optional<double> train) {
        ASSAY_ASSIGN(const auto held_out, evaluate_state(worker_, state.bytes, options_.held_out_sequences));
        result_.loss.push_back({std::uint64_t{result_.rounds} * spec_.train.inner_steps, train,
                                static_cast<double>(held_out.loss)});
        return {};
    }

    WorkerClient& worker_;
    const program::JobSpec& spec_;
    const LocalTrainingOptions& options_;
    LocalTrainingResult result_;
    std::map<std::uint32_t, HandedOn> handed_on_;  ///< by slot, of the round before
    std::vector<frames::SharedDescriptor> end_;    ///< last boundary of the slot at hand
    std::uint32_t rounds_ = 0;
    std::uint64_t all_steps_ = 0;
    std::uint64_t nanoseconds_ = 0;
    std::uint64_t peak_rss_bytes_ = 0;
    double losses_ = 0;
    std::uint64_t loss_count_ = 0;
};

}  // namespace

Outcome<frames::Opened> open_job(WorkerClient& worker, const program::JobSpec& spec, const JobData& data,
                                 const std::string& chain_id) {
    ASSAY_ASSIGN(auto train, frames::open_file(data.train));
    ASSAY_ASSIGN(auto held_out, frames::open_file(data.held_out));
    ASSAY_ASSIGN(auto opened, call_for<frames::Opened>(worker, frames::OpenJob{chain_id, spec},
                                                       {std::move(train), std::move(held_out)}));
    return opened.first;
}

Outcome<StateFile> initial_state(WorkerClient& worker, const frames::SharedDescriptor& file) {
    std::vector<frames::SharedDescriptor> bulk;
    if (file != nullptr) bulk.push_back(file);
    ASSAY_ASSIGN(auto initial, call_for<frames::BaseStateFrame>(worker, frames::Initial{}, std::move(bulk)));
    return StateFile{initial.first.root, initial.second.front()};
}

Outcome<HeldOutLoss> evaluate_state(WorkerClient& worker, const frames::SharedDescriptor& base_state,
                                    std::uint64_t max_sequences, const std::optional<base::Hash256>& beacon) {
    ASSAY_ASSIGN(const auto evaluated,
                 call_for<frames::Evaluated>(worker, frames::Evaluate{max_sequences, beacon}, {base_state}));
    const std::uint32_t bits = evaluated.first.loss_bits;
    return HeldOutLoss{std::bit_cast<float>(bits), bits, evaluated.first.tokens};
}

Outcome<LocalTrainingResult> train_alone(WorkerClient& worker, const program::JobSpec& spec,
                                         const LocalTrainingOptions& options) {
    return LocalRun(worker, spec, options).run();
}

Outcome<std::vector<std::uint32_t>> sample_tokens(WorkerClient& worker,
                                                  const frames::SharedDescriptor& base_state,
                                                  const frames::Sample& request) {
    ASSAY_ASSIGN(auto sampled, call_for<frames::Sampled>(worker, request, {base_state}));
    return std::move(sampled.first.tokens);
}

}  // namespace assay::node
