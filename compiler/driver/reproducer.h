// Writes the reproducer of an internal error: one file with everything needed to see the failure again.
#pragma once

#include <string>
#include <vector>

namespace tap::driver {

void remember_for_reproducer(const std::vector<std::string>& arguments);
// The last few files that were read: the source, and the plan.
void remember_for_reproducer(const std::string& path, const std::string& text);
// What shows the fault itself: a certificate, and the stages that it mentions. Replaces what was given before.
void remember_evidence_for_reproducer(const std::string& text);

// Writes it into TMPDIR (else /tmp) and gives its name in `name`, or an empty one if that was not possible. Usable in a
// signal handler: allocates nothing.
void write_reproducer(const char* phase, const char* what, char (&name)[256]);

}  // namespace tap::driver
