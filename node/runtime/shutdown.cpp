// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/shutdown.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace assay::node {
namespace {

std::atomic<int>& first_signal() {
    static std::atomic<int> number{0};
    return number;
}

}  // namespace

std::stop_token stop_on_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // threads made later inherit this
    static std::stop_source source;
    std::thread([signals] {
        int number = 0;
        if (sigwait(&signals, &number) != 0) return;
        first_signal().store(number);
        source.request_stop();
        // From here on the default action: whoever asks twice does not want to wait.
        std::signal(SIGINT, SIG_DFL);
        std::signal(SIGTERM, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
        while (true) pause();
    }).detach();
    return source.get_token();
}

int stop_signal() { return first_signal().load(); }

}  // namespace assay::node
