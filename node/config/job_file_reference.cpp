// SPDX-License-Identifier: Apache-2.0
// docs/reference/job-file.md, from the keys and the table of limits.
#include "node/config/job_keys.hpp"

namespace assay::node {
namespace {

const char* const kHead =
    "# Job file\n\n"
    "A job is a TOML file. This page is generated from the tables that the reader uses\n"
    "(`node/config/job_keys.cpp`, `contracts/program/limits.cpp`); a test fails when it is out of date. A\n"
    "key without a default must be there. Unknown keys are refused. A job that starts from a model folder\n"
    "(`model.from`) has that model's shape: of the other keys of [model] only `context` may be there, for\n"
    "fewer positions of a Llama than it has. [Limits](limits.md) has the ranges in one table, and the rules\n"
    "that tie keys together.\n";

}  // namespace

std::string job_file_reference() {
    std::string out = kHead;
    std::string section;
    for (const JobKey& key : job_keys()) {
        if (section != key.section) {
            section = key.section;
            out += "\n## [" + section + "]\n\n| key | value | default | meaning |\n|---|---|---|---|\n";
        }
        const std::string standard = key.standard ? "`" + to_toml(*key.standard) + "`" : "required";
        out += std::string("| `") + key.name + "` | " + allowed(key) + " | " + standard + " | " +
               key.meaning + " |\n";
    }
    return out;
}

}  // namespace assay::node
