// SPDX-License-Identifier: Apache-2.0
#include "node/worker/device_list.hpp"

#include <algorithm>
#include <sstream>

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

// Every card that can be used.
base::Outcome<std::vector<std::string>> usable_cards(const std::string& word, const WorkerOptions& options) {
    ASSAY_ASSIGN(const CardReport report, list_cards(options));
    std::vector<std::string> devices;
    std::optional<base::Error> missing = report.missing;
    for (const ListedCard& card : report.cards) {
        if (!card.missing) {
            devices.push_back(card.device);
        } else if (!missing) {
            missing = card.missing;
        }
    }
    if (!devices.empty()) return devices;
    return fail(ErrorKind::kPreflight,
                "--device " + word + ": no card can be used: " + (missing ? missing->what : "there is none"),
                missing ? missing->fix : "use another device: cpu");
}

}  // namespace

base::Outcome<std::vector<std::string>> device_list(const std::string& text, const WorkerOptions& options) {
    if (text.empty()) return std::vector<std::string>{""};
    std::vector<std::string> devices;
    std::istringstream words(text + ",");
    for (std::string word; std::getline(words, word, ',');) {
        std::vector<std::string> named{word};
        if (word == "cuda" || word == "all") {
            ASSAY_ASSIGN(named, usable_cards(word, options));
        }
        for (const std::string& device : named) {
            const bool twice = std::find(devices.begin(), devices.end(), device) != devices.end();
            if (device.empty() || twice) {
                return fail(ErrorKind::kUsage,
                            "--device " + text + ": " +
                                (twice ? device + " is there twice" : "a name between commas is empty"),
                            "name each device once, like: --device cuda:0,cuda:1");
            }
            devices.push_back(device);
        }
    }
    return devices;
}

}  // namespace assay::node
