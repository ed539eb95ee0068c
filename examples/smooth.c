// The kernel of smooth.tap. It is called once for a block of rows and sees only that block and its regions:
//
//   box      lo and hi of each index dim: here the rows lo <= i < hi
//   extents  the size of each index dim as a whole
//   regions  the reads in order, then the writes: the hull of the regions of all points of the box. The region of x is rows
//            lo - 1 to hi + 1; rows outside the tensor are present and contain the 0 of `else 0`.
#include <stdint.h>

typedef struct {
  void *data;              // of the region's first cell
  const int64_t *extents;  // of the region, per axis
  const int64_t *strides;  // in elements, per axis
} tap_region;

void smooth_rows(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const tap_region x = regions[0], y = regions[1];
  const float *from = x.data;
  float *to = y.data;
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i) {
    for (int64_t j = 0; j < y.extents[1]; ++j) {
      const float *above = from + i * x.strides[0] + j * x.strides[1];
      to[i * y.strides[0] + j * y.strides[1]] = (above[0] + above[x.strides[0]] + above[2 * x.strides[0]]) / 3;
    }
  }
}
