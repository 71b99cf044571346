// SPDX-License-Identifier: Apache-2.0
// Gives roles ReservedPort, a TCP port that they hold before they serve at it, because a role first names its
// endpoint on the ledger.
#pragma once

#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

/// The port is bound but does not listen, so connections are refused. A server that listens on address()
/// takes the port over; the reservation may be destroyed then.
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
