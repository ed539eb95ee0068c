#include "compiler/driver/tapc.h"

int main(int argc, char** argv) { return tap::driver::run_tapc(argc, argv); }
