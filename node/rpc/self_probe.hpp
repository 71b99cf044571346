// SPDX-License-Identifier: Apache-2.0
// Gives servers a probe of themselves. gRPC before 1.53.2 never accepts connections again once it ran out of
// file descriptors (CVE-2023-4785); the process stays alive and silent. So a server asks itself over its own
// port, and ends the process when it no longer answers. A supervisor then starts it again, which costs
// seconds instead of the node. A server that is full refuses the question but is not deaf: a connection that
// it answers in any way, or closes, counts as an answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "node/rpc/client.hpp"

namespace assay::node {

struct SelfProbeOptions {
    ClientOptions client;  ///< the server's own address; a name is resolved when the probe starts
    std::chrono::milliseconds interval{2'000};
    std::chrono::milliseconds timeout{2'000};  ///< for the question, and again for a bare connection
    int failures_allowed = 3;                  ///< consecutive; at one more the server is deaf
};

/// Probes on a thread of its own until destroyed. Each probe opens a new connection: an old one would hide
/// that no new one is accepted.
class SelfProbe {
public:
    virtual ~SelfProbe() = default;
};

/// `on_deaf` is called once, on the probe's thread.
std::unique_ptr<SelfProbe> start_self_probe(const SelfProbeOptions& options, std::function<void()> on_deaf);

/// For on_deaf in a program: logs why and ends the process at once with status 1.
[[noreturn]] void exit_deaf();

/// Raises this process's limit of open files to its hard limit; returns the limit now in force.
std::uint64_t raise_file_limit();

}  // namespace assay::node
