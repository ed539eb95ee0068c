#include "compiler/driver/outside_kernels.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "support/diagnostic.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

struct Region {  // tap_region of the kernel's C declaration
  void* data;
  const std::int64_t* extents;
  const std::int64_t* strides;
};
using Kernel = void (*)(const std::int64_t* box, const std::int64_t* extents, const Region* regions);

// Copies the cells that a box of coordinates and a tensor share; `to_region` says in which direction.
void copy_shared(const ir::Box& box, Tensor& region, Tensor& whole, bool to_region) {
  ir::Box shared = intersect(box, ir::Box::of_shape(whole.shape()));
  auto region_strides = row_major_strides(region.shape()), whole_strides = row_major_strides(whole.shape());
  std::size_t size = size_of(whole.type());
  std::byte *inner = region.mutable_data(), *outer = whole.mutable_data();
  for (auto point = ir::first_point(shared); point;) {
    std::int64_t in = 0, out = 0;
    for (std::size_t axis = 0; axis < point->size(); ++axis) {
      in += ((*point)[axis] - box.dims[axis].lo) * region_strides[axis];
      out += (*point)[axis] * whole_strides[axis];
    }
    std::byte *a = inner + static_cast<std::size_t>(in) * size, *b = outer + static_cast<std::size_t>(out) * size;
    std::memcpy(to_region ? a : b, to_region ? b : a, size);
    if (!ir::next_point(shared, *point)) break;
  }
}

void store_scalar(Tensor& tensor, const ir::Scalar& value) {
  for (std::int64_t at = 0; at < tensor.size(); ++at)
    is_float(tensor.type()) ? tensor.store_f64(at, value.f) : tensor.store_i64(at, value.i);
}

struct Gathered {
  std::vector<Tensor> tensors;
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<Shape> shapes;
  void add(Tensor tensor) {
    shapes.push_back(tensor.shape());
    strides.push_back(row_major_strides(tensor.shape()));
    tensors.push_back(std::move(tensor));
  }
};

}  // namespace

OutsideKernels::OutsideKernels(const std::vector<std::string>& libraries) {
  for (const std::string& path : libraries) {
    // With a slash in it, a name is a path and never searched for.
    std::string name = path.find('/') == path.npos ? "./" + path : path;
    void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw Failure{exit_code::wrong_data,
                    Diagnostic(Code::cannot_read, Span{}, std::string("the kernels cannot be loaded: ") + ::dlerror())};
    handles_.push_back(handle);
  }
}

OutsideKernels::~OutsideKernels() {
  for (void* handle : handles_) ::dlclose(handle);
}

bool OutsideKernels::call(const ir::Operator& op, const std::vector<Tensor>& operands,
                          std::vector<Tensor>& results) const {
  Kernel kernel = nullptr;
  for (void* handle : handles_)
    if (!kernel) kernel = reinterpret_cast<Kernel>(::dlsym(handle, op.kernel()->symbol.c_str()));
  if (!kernel) return false;

  ir::Box box = op.box();
  Gathered regions;
  for (const ir::Access& read : op.reads) {
    ir::Box bounds = read.projection.bounds(box);
    Tensor region(op.operands[read.tensor].element, bounds.shape());
    if (read.fill) store_scalar(region, op.exprs[*read.fill].value);
    Tensor whole = operands[read.tensor];
    copy_shared(bounds, region, whole, true);
    regions.add(std::move(region));
  }
  for (const ir::Access& write : op.writes)
    regions.add(Tensor(op.results[write.tensor].element, write.projection.bounds(box).shape()));

  std::vector<Region> arguments;
  for (std::size_t i = 0; i < regions.tensors.size(); ++i)
    arguments.push_back({regions.tensors[i].mutable_data(), regions.shapes[i].data(), regions.strides[i].data()});
  std::vector<std::int64_t> ranges, extents;
  for (const ir::IndexDim& dim : op.dims) {
    ranges.insert(ranges.end(), {dim.range.lo, dim.range.hi});
    extents.push_back(dim.range.size());
  }
  kernel(ranges.data(), extents.data(), arguments.data());
  for (std::size_t i = 0; i < op.writes.size(); ++i)
    copy_shared(op.writes[i].projection.bounds(box), regions.tensors[op.reads.size() + i], results[op.writes[i].tensor],
                false);
  return true;
}

}  // namespace tap::driver
