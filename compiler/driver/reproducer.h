// Writes the reproducer of an internal error: one file with everything needed to see the failure again.
#pragma once

#include <string>
#include <vector>

namespace tap::driver {

void remember_for_reproducer(const std::vector<std::string>& arguments);
// Keeps the last few files that were read: the source, and the plan.
void remember_for_reproducer(const std::string& path, const std::string& text);
// Evidence of the fault: a certificate, and the stages that it refers to. Replaces earlier evidence.
void remember_evidence_for_reproducer(const std::string& text);

// Writes it into TMPDIR (else /tmp); `name` gets its name, or is empty if that failed. Usable in a signal handler:
// allocates nothing.
void write_reproducer(const char* phase, const char* what, char (&name)[256]);

}  // namespace tap::driver
