/* Calls the program of scale.tap. */
#include <stdio.h>

#include "scale.h"

int main(void) {
  float factor = 2, x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[2][3], total;
  tapestry_tensor constants[] = {{&factor, 0}}, inputs[] = {{x, 0}}, outputs[] = {{y, 0}, {&total, 0}};
  scale_context *context;
  int32_t status = scale_prepare(&context, constants, 0);
  if (status == TAPESTRY_DONE) status = scale_run(context, inputs, outputs);
  if (status != TAPESTRY_DONE) {
    char text[256];
    scale_message(context, text, sizeof text);
    fprintf(stderr, "%s\n", text);
  } else {
    printf("%g %g %g %g %g %g, together %g\n", y[0][0], y[0][1], y[0][2], y[1][0], y[1][1], y[1][2], total);
  }
  scale_release(context);
  return status;
}
