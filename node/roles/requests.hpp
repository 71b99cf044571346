// SPDX-License-Identifier: Apache-2.0
// Gives roles Requests, which numbers their requests to the ports and calls the handler of each answer.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "node/seams/event.hpp"

namespace assay::node {

class Requests {
public:
    using SubmitHandler = std::function<void(const Outcome<SubmitReply>&)>;
    using BlobHandler = std::function<void(const BlobFetched&)>;
    using WorkerHandler = std::function<void(const WorkerAnswered&)>;

    RequestId on_submit(SubmitHandler handler) { return keep(submits_, std::move(handler)); }
    /// Each called at most once, before the answer: `asked` when the holder that owes the blob is being asked
    /// for it, `arriving` when it gives chunks.
    RequestId on_blob(BlobHandler handler, std::function<void()> asked = {},
                      std::function<void()> arriving = {}) {
        const RequestId id = keep(blobs_, std::move(handler));
        if (asked) asked_.emplace(id, std::move(asked));
        if (arriving) arriving_.emplace(id, std::move(arriving));
        return id;
    }
    /// Called for every frame; forgotten after the last.
    RequestId on_worker(WorkerHandler handler) { return keep(workers_, std::move(handler)); }

    // Answers with an unknown number are ignored: their request was given up.
    void answer(const SubmitDone& event) { take(submits_, event.request, event.reply); }
    void answer(const BlobAsked& event) {
        const auto asked = asked_.extract(event.request);
        if (!asked.empty()) asked.mapped()();
    }
    void answer(const BlobArriving& event) {
        const auto arriving = arriving_.extract(event.request);
        if (!arriving.empty()) arriving.mapped()();
    }
    void answer(const BlobFetched& event) {
        asked_.erase(event.request);
        arriving_.erase(event.request);
        take(blobs_, event.request, event);
    }
    void answer(const WorkerAnswered& event) {
        if (event.last) return take(workers_, event.request, event);
        if (const auto found = workers_.find(event.request); found != workers_.end()) {
            const WorkerHandler handler = found->second;  // a copy: the handler may change the map
            handler(event);
        }
    }

private:
    template <class Map, class Handler>
    RequestId keep(Map& map, Handler handler) {
        const RequestId id = ++last_;
        map.emplace(id, std::move(handler));
        return id;
    }
    template <class Map, class Answer>
    static void take(Map& map, RequestId id, const Answer& answer) {
        auto node = map.extract(id);
        if (!node.empty()) node.mapped()(answer);
    }

    RequestId last_ = 0;
    std::map<RequestId, SubmitHandler> submits_;
    std::map<RequestId, BlobHandler> blobs_;
    std::map<RequestId, std::function<void()>> asked_, arriving_;
    std::map<RequestId, WorkerHandler> workers_;
};

}  // namespace assay::node
