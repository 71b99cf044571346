// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/device_asks.hpp"

#include <algorithm>
#include <sstream>

namespace assay::node {

using base::ErrorKind;
using base::fail;

base::Outcome<std::map<std::string, base::Amount>> device_asks(const std::string& text,
                                                               const std::vector<std::string>& devices) {
    const auto refuse = [&](const std::string& why) {
        return fail(ErrorKind::kUsage, "--ask " + text + ": " + why,
                    "give one price for all (900u), or one for each: --ask cuda:0=900u,cuda:1=700u");
    };
    constexpr const char* kOthers = "";
    std::map<std::string, base::Amount> asks;
    std::istringstream words(text + ",");
    for (std::string word; std::getline(words, word, ',');) {
        const std::size_t equals = word.rfind('=');
        const std::string device = equals == std::string::npos ? kOthers : word.substr(0, equals);
        ASSAY_ASSIGN(const base::Amount price,
                     amount_flag("--ask", equals == std::string::npos ? word : word.substr(equals + 1)));
        if (equals != std::string::npos && std::find(devices.begin(), devices.end(), device) == devices.end())
            return refuse("'" + device + "' is none of the devices");
        if (!asks.emplace(device, price).second)
            return refuse("there are two prices for " + (device == kOthers ? "all others" : device));
    }
    const auto others = asks.extract(kOthers);
    for (const std::string& device : devices) {
        if (!asks.contains(device) && others.empty()) return refuse("there is no price for " + device);
        if (!asks.contains(device)) asks.emplace(device, others.mapped());
    }
    return asks;
}

}  // namespace assay::node
