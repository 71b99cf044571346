// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/confine.hpp"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace assay::worker {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

void close_all_but(int socket) {
    DIR* folder = ::opendir("/proc/self/fd");
    if (folder == nullptr) return;
    std::vector<int> numbers;
    while (const dirent* entry = ::readdir(folder)) {
        const int number = std::atoi(entry->d_name);
        if (number > 2 && number != socket && number != ::dirfd(folder)) numbers.push_back(number);
    }
    ::closedir(folder);
    for (const int number : numbers) ::close(number);
}

}  // namespace

Outcome<void> confine(int socket) {
    const auto refused = [](const char* what) {
        return fail(ErrorKind::kFailure,
                    std::string("the worker cannot confine itself: ") + what + ": " + std::strerror(errno));
    };
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("PR_SET_NO_NEW_PRIVS");
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_CORE, &none) != 0) return refused("RLIMIT_CORE");
    close_all_but(socket);
    // Containers often forbid user namespaces; the worker has no use for the network either way.
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) errno = 0;
    // Last: a change of credentials clears it.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return refused("PR_SET_PDEATHSIG");
    return {};
}

}  // namespace assay::worker
