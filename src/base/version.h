#pragma once

namespace memoir {

// The version of project() in CMakeLists.txt, "0.1.0", and the commit it was built from ("unknown" outside git).
const char* version();
const char* version_commit();

}  // namespace memoir
