// SPDX-License-Identifier: Apache-2.0
// Gives the comparison of strategies the bytes that a job with each strategy moved over a network, by
// purpose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::node {

/// Bytes of one purpose, in both directions.
struct TrafficRow {
    std::string purpose;
    std::uint64_t bytes = 0;
    double per_token = 0;
    /// False: counted. True: the bytes on the sockets less everything that was counted.
    bool derived = false;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("purpose", purpose);
        visit("bytes", bytes);
        visit("per_token", per_token);
        visit("derived", derived);
    }
};

struct StrategyTraffic {
    std::string strategy;
    std::uint64_t parameters = 0;
    std::uint32_t rounds = 0, slots = 0, inner_steps = 0;
    std::uint64_t tokens = 0;         ///< of accepted slots
    std::uint64_t coded_bytes = 0;    ///< of a contribution: the file that a slot submitted
    std::uint64_t uncoded_bytes = 0;  ///< by convention 4 bytes a parameter after each step
    double factor = 0;                ///< uncoded_bytes / coded_bytes
    std::uint64_t socket_bytes = 0;   ///< of all connections between processes
    double socket_bytes_per_token = 0;
    std::uint64_t connections = 0;
    std::vector<TrafficRow> rows;    ///< they sum up to socket_bytes
    std::uint64_t worker_bytes = 0;  ///< between roles and workers, in a machine; not in the sum

    template <class Visit>
    void fields(Visit& visit) const {
        visit("strategy", strategy);
        visit("parameters", parameters);
        visit("rounds", rounds);
        visit("slots", slots);
        visit("inner_steps", inner_steps);
        visit("tokens", tokens);
        visit("coded_bytes", coded_bytes);
        visit("uncoded_bytes", uncoded_bytes);
        visit("factor", factor);
        visit("socket_bytes", socket_bytes);
        visit("socket_bytes_per_token", socket_bytes_per_token);
        visit("connections", connections);
        visit("rows", rows);
        visit("worker_bytes", worker_bytes);
    }
};

}  // namespace assay::node
