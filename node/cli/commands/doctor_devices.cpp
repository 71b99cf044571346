// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/doctor_devices.hpp"

#include <algorithm>
#include <set>

#include "node/worker/device_list.hpp"

namespace assay::node {

namespace {

constexpr std::uint64_t kBytesPerMebibyte = 1024 * 1024;

DoctorCheck problem(const std::string& name, const base::Error& error) {
    return {name, false, error.what, error.fix};
}

// What the self-test gives on a device; `card` notes its root.
DoctorCheck test_device(const std::string& device, const std::string& what, DoctorCard* card) {
    WorkerOptions worker;
    worker.device = device;
    const auto tested = run_self_test(worker);
    if (!tested.ok())
        return problem(device, {tested.error().kind, what + tested.error().what, tested.error().fix});
    if (card != nullptr) {
        card->self_test = tested->root;
        card->usable = tested->sound;
    }
    if (tested->sound) return {device, true, what + "self-test gives the known bits, " + tested->root, ""};
    return {device, false,
            what + "self-test gives other bits, " + tested->root + ": " + tested->differs + " differs",
            "do not work on this device; look at it with nvidia-smi -q, and report it with these lines"};
}

DoctorCheck check_driver(const CardReport& report, bool needed) {
    std::string found = report.driver.empty() ? "" : "driver " + report.driver;
    if (!report.cuda.empty()) found += (found.empty() ? "driver of CUDA " : ", CUDA up to ") + report.cuda;
    if (!report.missing) return {"driver", true, found, ""};
    const bool nothing = report.on_bus == 0 && found.empty();
    if (nothing && !needed) return {"driver", true, "no NVIDIA card on the PCI bus, and no driver", ""};
    return {"driver", !needed, report.missing->what, report.missing->fix};
}

}  // namespace

DoctorCheck check_confinement(const std::string& device) {
    const std::string name = "confinement";
    const std::string where = device.empty() ? "" : device + ": ";
    WorkerOptions worker;
    worker.device = device;
    const auto lacks = list_lacks(worker);
    if (!lacks.ok()) return {name, false, where + lacks.error().what, lacks.error().fix};
    DoctorCheck check{name, true, "", ""};
    for (const base::Error& lack : *lacks) {
        check.found += (check.found.empty() ? where : "; ") + lack.what;
        check.fix += (check.fix.empty() ? "" : "; ") + lack.fix;
    }
    if (lacks->empty()) check.found = where + "the kernel refuses nothing of a worker's confinement";
    return check;
}

base::Outcome<DoctorDevices> examine_devices(const std::string& wanted) {
    DoctorDevices all;
    std::set<std::string> named;
    bool any_card = false;
    for (const std::string word : {"cuda", "all"}) any_card = any_card || wanted == word;
    if (!any_card && !wanted.empty()) {
        ASSAY_ASSIGN(const auto list, device_list(wanted, {}));
        named.insert(list.begin(), list.end());
    }
    const auto listed = list_cards({});
    if (!listed.ok() && listed.error().kind == base::ErrorKind::kNotFound)
        return all;  // no worker: said already
    if (!listed.ok()) {
        all.checks.push_back(problem("driver", listed.error()));
        return all;
    }
    const CardReport& report = *listed;
    const bool has_card = report.on_bus > 0 || !report.cards.empty();
    const bool needed = any_card || std::any_of(named.begin(), named.end(), is_card);
    all.checks.push_back(check_driver(report, needed || (report.kernels && has_card)));
    for (const ListedCard& card : report.cards) {
        all.cards.push_back(
            {card.device, card.name, card.capability, card.memory / kBytesPerMebibyte, {}, false});
        const std::string what = card.name + ", compute capability " + card.capability + ", " +
                                 std::to_string(card.memory / kBytesPerMebibyte) + " MiB; ";
        if (card.missing) {
            const bool must = any_card || named.contains(card.device) || report.kernels;
            all.checks.push_back({card.device, !must, what + card.missing->what, card.missing->fix});
        } else {
            all.checks.push_back(test_device(card.device, what, &all.cards.back()));
            all.checks.push_back(check_confinement(card.device));
        }
        named.erase(card.device);
    }
    for (const std::string& device : named) all.checks.push_back(test_device(device, "", nullptr));
    return all;
}

}  // namespace assay::node
