// SPDX-License-Identifier: Apache-2.0
// A worker tells that its request goes on: each kind of long request by the frames that its pieces end with.
#include <algorithm>

#include "contracts/dispute/position.hpp"
#include "tests/node/worker/served_worker.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;

namespace {

std::size_t pulses(const std::vector<frames::Envelope>& all) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const frames::Envelope& one) {
        return std::holds_alternative<frames::Pulse>(one.message);
    }));
}

template <class Answer>
std::vector<frames::Envelope> asked(ServedWorker& worker, frames::Message message,
                                    std::vector<frames::SharedDescriptor> bulk) {
    worker.ask(std::move(message), std::move(bulk));
    auto all = worker.frames_of_request();
    REQUIRE(std::holds_alternative<Answer>(all.back().message));
    return all;
}

}  // namespace

TEST_CASE("an audit pulses with each step, an evaluation with each batch, a merge with each update") {
    ServedWorker worker({});
    const auto training = asked<frames::Trained>(worker, train_request(0), {worker.base()});
    // Progress tells more; behind a boundary it may wait for this thread.
    const auto first = std::find_if(training.begin(), training.end(), [](const frames::Envelope& one) {
        return std::holds_alternative<frames::Boundary>(one.message);
    });
    CHECK(pulses({training.begin(), first}) == 0);
    const auto& trained = std::get<frames::Trained>(training.back().message);

    frames::Replay replay;
    replay.base_root = worker.base_root();
    const auto replayed = asked<frames::Replayed>(worker, replay, {worker.base()});
    CHECK(pulses(replayed) == 2);  // steps of the first segment
    CHECK(std::get<frames::Replayed>(replayed.back().message).parts.end_root == trained.trace.boundaries[1]);

    frames::Evaluate evaluate;
    evaluate.max_sequences = 2;
    const auto few = asked<frames::Evaluated>(worker, evaluate, {worker.base()});
    CHECK(pulses(few) >= 1);
    evaluate.max_sequences = 0;
    CHECK(pulses(asked<frames::Evaluated>(worker, evaluate, {worker.base()})) > pulses(few));

    frames::Merge merge;
    merge.accepted = {{0, 1, trained.trace.update}, {1, 1, trained.trace.update}};
    const auto& update = training.back().bulk.at(0);
    CHECK(pulses(asked<frames::BaseStateFrame>(worker, merge, {worker.base(), update, update})) == 2);

    frames::Descend descend;
    descend.question.kind = dispute::QuestionKind::kSteps;
    descend.question.row = dispute::top_row(2);
    CHECK(pulses(asked<frames::Descended>(worker, descend, {worker.base()})) == 2);

    frames::DescendArray array;  // whatever it asks, the updates are read first
    array.question.subject = dispute::ArraySubject::kMergedParameters;
    array.merged = {{0, 1, 0, trained.trace.update}, {1, 1, 0, trained.trace.update}};
    worker.ask(array, {worker.base(), update, update});
    CHECK(pulses(worker.frames_of_request()) == 2);
}
