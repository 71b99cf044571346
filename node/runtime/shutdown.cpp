// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/shutdown.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
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
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // threads made later inherit this: no call is interrupted
    static std::stop_source source;
    std::thread([signals] {
        boost::asio::io_context context{1};
        boost::asio::signal_set asked{context, SIGINT, SIGTERM};
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // this thread alone takes them
        asked.async_wait([&](const boost::system::error_code& failed, int number) {
            if (failed) return;
            asked.clear();  // the default action again: whoever asks twice does not want to wait
            first_signal().store(number);
            source.request_stop();
        });
        context.run();
        while (true) pause();
    }).detach();
    return source.get_token();
}

int stop_signal() { return first_signal().load(); }

}  // namespace assay::node
