// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/device_failure.hpp"

#include "trainer/step/memory_text.hpp"

namespace assay::trainer {

using base::ErrorKind;

DeviceFailure out_of_device_memory(std::string_view device, std::uint64_t asked, std::uint64_t used,
                                   std::uint64_t size) {
    std::string what(device);
    what.append(" has not enough memory: ");
    what.append(asked == 0 ? "more" : memory_text(asked) + " more").append(" than the ");
    what.append(memory_text(used)).append(" in use ").append(asked == 0 ? "is" : "are").append(" asked for");
    if (size != 0) what.append(", of ").append(memory_text(size));
    return DeviceFailure({ErrorKind::kFailure, what,
                          "end what else uses the device, or plan for less of it: --device-memory"});
}

DeviceFailure lost_device(std::string_view device, std::string_view why) {
    std::string what(device);
    what.append(" is lost: ").append(why);
    return DeviceFailure({ErrorKind::kUnreachable, what,
                          "look at the card and its driver with nvidia-smi; until then use another device"});
}

base::Failed<base::Error> memory_error(const std::bad_alloc& problem, std::string_view what) {
    if (const auto* failure = dynamic_cast<const DeviceFailure*>(&problem)) return {failure->error()};
    std::string text = "there is not enough memory for ";
    text.append(what);
    return base::fail(ErrorKind::kFailure, text, "use a smaller micro-batch or a machine with more memory");
}

}  // namespace assay::trainer
