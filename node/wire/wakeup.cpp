// SPDX-License-Identifier: Apache-2.0
#include "node/wire/wakeup.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace assay::worker {

base::Outcome<Wakeup> Wakeup::create() {
    Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (event.valid()) return Wakeup(std::move(event));
    return base::fail(base::ErrorKind::kFailure,
                      std::string("cannot create an event to wake a thread: ") + std::strerror(errno),
                      "raise the limit of open files (ulimit -n)");
}

// The write fails where the count is at its end, and the event is readable then; the read, where there was
// no wake().
void Wakeup::wake() const { static_cast<void>(::eventfd_write(event_.number(), 1)); }
void Wakeup::clear() const {
    eventfd_t wakes = 0;
    static_cast<void>(::eventfd_read(event_.number(), &wakes));
}

}  // namespace assay::worker
