// SPDX-License-Identifier: Apache-2.0
#include "node/processes/side_by_side.hpp"

#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "node/key/passphrase_pipe.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

constexpr int kPassphraseFd = 3;

base::Outcome<Process> start(const SideBySide& plan, const Passphrase& passphrase) {
    ASSAY_ASSIGN(const OwnedFd secret, passphrase_pipe(passphrase));
    ProcessOptions options;
    ASSAY_ASSIGN(options.program, own_program());
    options.arguments = plan.words;
    options.arguments.insert(options.arguments.end(), {"--passphrase-fd", std::to_string(kPassphraseFd)});
    options.descriptors = {{secret.get(), kPassphraseFd}};
    return Process::spawn(options);
}

}  // namespace

base::Outcome<void> ended_well(const std::string& name, const ExitStatus& ended, bool told_to_stop) {
    // One that was just started has no handler yet.
    if (ended.success() || (told_to_stop && ended.signal == SIGTERM)) return {};
    return fail(error_kind(ended), name + " ended with " + to_text(ended),
                "what it said above names the fix");
}

base::Outcome<void> run_side_by_side(const std::vector<SideBySide>& plans,
                                     std::shared_ptr<const Passphrase> passphrase,
                                     const std::stop_token& stop) {
    std::vector<std::pair<std::string, Process>> running;
    std::optional<base::Error> first;
    const auto note = [&](const base::Error& error) {
        log_error(error);
        if (!first) first = error;
    };
    for (const SideBySide& plan : plans) {
        auto started = start(plan, *passphrase);
        if (started.ok()) {
            running.emplace_back(plan.name, std::move(started).value());
        } else {
            note({started.error().kind, plan.name + " does not start: " + started.error().what,
                  started.error().fix});
        }
    }
    passphrase.reset();  // it opens the owner's key too
    for (bool told = false; !running.empty();) {
        if (stop.stop_requested() && !std::exchange(told, true))
            for (auto& [name, process] : running) process.signal(SIGTERM);
        std::erase_if(running, [&](auto& one) {
            const auto ended = one.second.poll();
            if (!ended) return false;
            if (const auto well = ended_well(one.first, *ended, told); well.ok()) {
                log_info(one.first + " is done");
            } else {
                note(well.error());
            }
            return true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (first) return base::failed(*first);
    return {};
}

}  // namespace assay::node
