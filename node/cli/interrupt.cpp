// SPDX-License-Identifier: Apache-2.0
#include "node/cli/interrupt.hpp"

#include <unistd.h>

#include <ostream>
#include <stop_token>

#include "node/cli/cli.hpp"
#include "node/runtime/shutdown.hpp"

namespace assay::node {

void end_on_interrupt(const Context& context, const std::string& fix) {
    const OutputMode mode = context.settings.output;
    std::ostream& err = context.err;
    const auto end = [&err, mode, fix] {
        const base::Error error{base::ErrorKind::kInterrupted, "interrupted before the work was done", fix};
        print_error(err, error, mode);
        err.flush();
        ::_exit(static_cast<int>(error.kind));
    };
    // Lives as long as the process: the signal may come at any time.
    static const std::stop_callback<std::function<void()>> callback(stop_on_signals(), end);
}

}  // namespace assay::node
