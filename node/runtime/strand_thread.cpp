// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/strand_thread.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace assay::node {

struct StrandThread::State {
    std::stop_source stop;
    boost::asio::thread_pool thread{1};
};

StrandThread::StrandThread() : state_(std::make_unique<State>()) {}

StrandThread::~StrandThread() {
    state_->stop.request_stop();
    state_->thread.stop();
    state_->thread.join();
}

void StrandThread::add(std::function<void(const std::stop_token&)> work) {
    boost::asio::post(state_->thread,
                      [work = std::move(work), stop = state_->stop.get_token()] { work(stop); });
}

}  // namespace assay::node
