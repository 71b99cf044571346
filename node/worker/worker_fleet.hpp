// SPDX-License-Identifier: Apache-2.0
// Gives processes WorkerFleet, a worker for each of several devices behind one client. A device that fails is
// put out of use. Its request can be asked again, and goes to another device.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/worker/worker_process.hpp"

namespace assay::node {

struct FleetOptions {
    WorkerOptions worker;              ///< for each worker; `device` is ignored
    std::vector<std::string> devices;  ///< at least one, each once
    /// Called from any thread with what happens to a device.
    std::function<void(const base::Error&)> tell;
};

/// OpenJob goes to every device and is answered when all have answered: with the first Opened, else with a
/// refusal. A device that refused the job gets no work for it. Every other request goes to the device that
/// trains steps fastest among those that are free and have the job open, and waits while there is none. Each
/// device works on one request at a time; requests on different devices have no order.
///
/// A device is put out of use when it computes wrong bits (RefusalReason::kUnsound) or is lost (kLost). The
/// same happens when it fails otherwise (kInternal: its memory runs out, its process dies twice) once while
/// it trains, or twice in a row in other work. The request is then refused with kInternal and can be asked
/// again; for wrong bits the event is also spoiled. The last device is never put out of use, nor, for
/// kInternal, the last one that has the job open; their refusals are passed on unchanged.
class WorkerFleet final : public WorkerClient {
public:
    /// Starts the workers in parallel. Devices that fail to start (WorkerProcess::start: not there, wrong
    /// bits in the self-test) are reported to `tell` and left out. If none is left, returns the first
    /// device's error.
    static base::Outcome<std::unique_ptr<WorkerFleet>> start(FleetOptions options);
    ~WorkerFleet() override;

    WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) override;
    void cancel(WorkerRequestId request) override;
    /// The Hello of the first device in use.
    [[nodiscard]] frames::Hello hello() const override;
    /// Devices that can work on the open job; before there is one, devices in use.
    [[nodiscard]] std::size_t width() const override;

    /// A device in use, with what it reported when it started.
    struct Member {
        std::string device;
        frames::Hello hello;
    };
    [[nodiscard]] std::vector<Member> members() const;

    /// Puts a device out of use on which a check found wrong bits. Its present request ends with
    /// WorkerEvent::spoiled, and its earlier results count for nothing. Returns false when it was the last
    /// device, which stays in use; its owner then ends the process.
    bool distrust(const std::string& device, const base::Error& why);

private:
    class Impl;
    explicit WorkerFleet(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::node
