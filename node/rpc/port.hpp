// SPDX-License-Identifier: Apache-2.0
// Gives roles a TCP port that is theirs before anybody is served at it: a role names its endpoint on the
// ledger first.
#pragma once

#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Bound, not listening: whoever connects is refused. A server that listens on address() takes the port over;
/// the reservation may go then.
class ReservedPort {
public:
    /// `listen`: host:port; with port 0 the system chooses. kUsage: no such address; kFailure: taken.
    static base::Outcome<ReservedPort> take(const std::string& listen);
    ReservedPort(ReservedPort&& other) noexcept;
    ReservedPort& operator=(ReservedPort&& other) noexcept;
    ~ReservedPort();

    /// "host:port", the chosen port included.
    [[nodiscard]] const std::string& address() const { return address_; }

private:
    ReservedPort(int fd, std::string address) : fd_(fd), address_(std::move(address)) {}
    int fd_ = -1;
    std::string address_;
};

}  // namespace assay::node
