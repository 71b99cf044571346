// SPDX-License-Identifier: Apache-2.0
// Gives processes WorkerFleet, a worker for each of several devices behind one client. A device that fails is
// put out of use; what it worked on can be asked again, and goes to another one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/worker/worker_process.hpp"

namespace assay::node {

struct FleetOptions {
    WorkerOptions worker;              ///< of each; `device` is not looked at
    std::vector<std::string> devices;  ///< at least one, each once
    /// Told what becomes of a device, from any thread.
    std::function<void(const base::Error&)> tell;
};

/// OpenJob goes to every device and is answered when all have answered: with the first Opened, else with a
/// refusal. Whoever refused the job gets no work for it. Every other request goes to one device that is free
/// and has the job open, of those to the one that trains its steps fastest; it waits while there is none.
/// Each device works on one request at a time; between devices there is no order.
///
/// A device is put out of use when it computes other bits (RefusalReason::kUnsound) or is lost (kLost); when
/// it fails otherwise (kInternal: its memory runs out, its process dies twice) once while it trains, or twice
/// in a row in other work. The request is then refused with kInternal, which is to be asked again; with other
/// bits the event is spoiled, too. The last device is never put out, nor, for kInternal, the last that has
/// the job open: their refusals come as they are.
class WorkerFleet final : public WorkerClient {
public:
    /// Starts the workers side by side. Devices that are refused (WorkerProcess::start: not there, other bits
    /// in the self-test) are told and left out; where none is left, the first one's error.
    static base::Outcome<std::unique_ptr<WorkerFleet>> start(FleetOptions options);
    ~WorkerFleet() override;

    WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) override;
    void cancel(WorkerRequestId request) override;
    /// Of the first device in use.
    [[nodiscard]] frames::Hello hello() const override;
    /// Devices that can work on the open job; before there is one, devices in use.
    [[nodiscard]] std::size_t width() const override;

    /// Those in use, with what they said when they started.
    struct Member {
        std::string device;
        frames::Hello hello;
    };
    [[nodiscard]] std::vector<Member> members() const;

    /// A check found other bits on the device: it is put out of use, and what it works on comes back as
    /// WorkerEvent::spoiled; what it gave before counts for nothing either. False when it was the last one,
    /// which stays: its owner ends the process.
    bool distrust(const std::string& device, const base::Error& why);

private:
    class Impl;
    explicit WorkerFleet(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::node
