// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/launch_times.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
void erase_all(std::string& text, std::string_view part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}
}  // namespace

std::string kernel_name(const std::type_info& kernel) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(kernel.name(), nullptr, nullptr, &status), std::free);
    std::string name = status == 0 ? plain.get() : kernel.name();
    for (const std::string_view part : {"assay::trainer::cuda::", "gpu::", "emulated::", " "})
        erase_all(name, part);
    // Values of enumerations: "(Mask)0".
    for (std::size_t at = name.find('('); at != std::string::npos; at = name.find('(', at)) {
        const std::size_t end = name.find(')', at);
        if (end == std::string::npos) break;
        name.erase(at, end + 1 - at);
    }
    // Numbers: "128u".
    for (std::size_t at = 1; at < name.size(); ++at) {
        const bool ends = at + 1 == name.size() || name[at + 1] == ',' || name[at + 1] == '>';
        if (name[at] == 'u' && ends && name[at - 1] >= '0' && name[at - 1] <= '9') name.erase(at, 1);
    }
    return name;
}

LaunchTimes::LaunchTimes(Card& card) : card_(card), before_(launch_watch()) {
    static_cast<void>(card_.take_marks());  // of work that ended by an exception
    launch_watch() = this;
}

LaunchTimes::~LaunchTimes() { launch_watch() = before_; }

void LaunchTimes::begin(const std::type_info& kernel) {
    std::string& name = names_[kernel];
    if (name.empty()) name = kernel_name(kernel);
    launches_.push_back(part_ + "/" + name);
    card_.mark();
}

void LaunchTimes::end() { card_.mark(); }

std::vector<WorkTime> LaunchTimes::take() {
    const std::vector<double> marks = card_.take_marks();
    const std::vector<std::string> launches = std::exchange(launches_, {});
    if (marks.size() != 2 * launches.size()) return {};
    std::map<std::string, WorkTime> of_name;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        WorkTime& one = of_name[launches[i]];
        one.name = launches[i];
        ++one.count;
        one.seconds += marks[2 * i + 1] - marks[2 * i];
    }
    std::vector<WorkTime> times;
    for (auto& [name, one] : of_name) times.push_back(std::move(one));
    std::stable_sort(times.begin(), times.end(),
                     [](const WorkTime& a, const WorkTime& b) { return a.seconds > b.seconds; });
    return times;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
