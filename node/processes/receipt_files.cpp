// SPDX-License-Identifier: Apache-2.0
#include "node/processes/receipt_files.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace assay::node {

using base::ErrorKind;
using base::fail;
namespace fs = std::filesystem;

base::Outcome<ledger::Receipt> read_receipt(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        return fail(ErrorKind::kNotFound, "cannot read the receipt " + file.string(),
                    "give the path of a receipt that you may read; a participant keeps its latest in "
                    "HOME/jobs/receipt");
    }
    constexpr std::size_t kMost = 4096;  // a receipt has far less
    base::Bytes bytes(kMost);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    const auto receipt = base::decode<ledger::Receipt>(bytes);
    if (!receipt) {
        return fail(ErrorKind::kUsage, file.string() + " is not a receipt",
                    "a participant keeps its latest in HOME/jobs/receipt");
    }
    return *receipt;
}

std::vector<ledger::HeldReceipt> find_receipts(const Home& home) {
    std::vector<fs::path> files{home.jobs() / kReceiptFile};
    std::error_code ignored;
    for (fs::directory_iterator at(home.root, ignored), end; at != end; at.increment(ignored)) {
        if (at->is_directory(ignored)) files.push_back(Home{at->path()}.jobs() / kReceiptFile);
    }
    std::sort(files.begin(), files.end());
    std::vector<ledger::HeldReceipt> found;
    for (const fs::path& file : files) {
        const auto receipt = read_receipt(file);
        if (receipt.ok()) found.push_back({file.string(), ledger::ReceiptSource::kFound, *receipt});
    }
    return found;
}

}  // namespace assay::node
