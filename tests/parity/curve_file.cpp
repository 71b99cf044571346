// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/curve_file.hpp"

#include <utility>

#include "trainer/data/files.hpp"

namespace assay::parity {

CurveFile::CurveFile(std::filesystem::path path, std::string lines)
    : path_(std::move(path)), text_(std::move(lines)), file_(path_) {
    file_ << text_ << std::flush;
}

void CurveFile::line(const nlohmann::ordered_json& body) {
    const std::string line = body.dump() + "\n";
    text_ += line;
    file_ << line << std::flush;
}

base::Outcome<void> CurveFile::check() const {
    if (file_.good()) return {};
    return base::fail(base::ErrorKind::kFailure, "cannot write " + path_.string(), "check the folder");
}

base::Outcome<void> CurveFile::finish() {
    ASSAY_TRY(check());
    return trainer::write_file(path_, base::as_bytes(text_));
}

}  // namespace assay::parity
