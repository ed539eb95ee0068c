#include "compiler/driver/bindings/outside_kernels.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "runtime/failure.h"
#include "support/diagnostic.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

// The function of that name that the library itself defines. dlsym also finds functions of its dependencies.
void* own_function(void* handle, const std::string& symbol) {
  void* address = ::dlsym(handle, symbol.c_str());
  if (!address) return nullptr;
  Dl_info info;
  link_map *library = nullptr, *owner = nullptr;
  const ElfW(Sym)* entry = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0) return nullptr;
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) == 0 || owner != library)
    return nullptr;
  ::dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&entry)), RTLD_DL_SYMENT);
  bool function = entry && ELF64_ST_TYPE(entry->st_info) == STT_FUNC;  // the same in both classes of ELF
  return function ? address : nullptr;
}

Failure no_kernel(const std::string& what, const std::vector<std::string>& libraries) {
  std::string message = fmt::format("the outside kernel {} is not available", what);
  if (libraries.empty())
    return {exit_code::wrong_command_line, Diagnostic(Code::command_line, Span{}, message)
                                               .help("load the shared library that defines it: --kernels FILE.so")};
  message += fmt::format(": {} {} no function of that name", fmt::join(libraries, ", "),
                         libraries.size() == 1 ? "defines" : "define");
  return {exit_code::wrong_data,
          Diagnostic(Code::cannot_read, Span{}, message)
              .help("`nm -D` lists what a library defines; in C++ a kernel is declared `extern \"C\"`")};
}

// Copies the cells that a box of coordinates and a tensor share; `to_region` gives the direction.
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

OutsideKernels::OutsideKernels(const ir::Program& program, const std::vector<std::string>& libraries) {
  for (const std::string& path : libraries) load(path);
  find(program, program.main, libraries);
}

void OutsideKernels::load(const std::string& path) {
  // A name with a slash is a path, and dlopen does not search for it.
  std::string name = path.find('/') == path.npos ? "./" + path : path;
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Failure{exit_code::wrong_data,
                  Diagnostic(Code::cannot_read, Span{}, std::string("cannot load the kernels: ") + ::dlerror())};
  handles_.push_back(handle);
}

void OutsideKernels::find(const ir::Program& program, ir::GraphId graph, const std::vector<std::string>& libraries) {
  if (!searched_.insert(graph).second) return;
  for (const ir::Operation& operation : program[graph].operations) {
    const ir::Operator& op = program[operation.op];
    if (const ir::RegionBody* region = op.region()) {
      find(program, region->graph, libraries);
      for (const ir::Alternative& alternative : region->alternatives) find(program, alternative.graph, libraries);
    }
    if (!op.kernel() || functions_.contains(op.kernel()->symbol)) continue;
    find(op.kernel()->symbol, fmt::format("`{}` of `{}`", op.kernel()->symbol, op.name), libraries);
  }
}

void OutsideKernels::find(const std::string& symbol, const std::string& what,
                          const std::vector<std::string>& libraries) {
  void* function = nullptr;
  for (void* handle : handles_)
    if (!function) function = own_function(handle, symbol);
  if (!function) throw no_kernel(what, libraries);
  functions_.emplace(symbol, function);
}

OutsideKernels::OutsideKernels(const std::vector<std::string>& symbols, const std::vector<std::string>& libraries) {
  for (const std::string& path : libraries) load(path);
  for (const std::string& symbol : symbols) find(symbol, tap::quoted(symbol), libraries);
}

OutsideKernels::~OutsideKernels() {
  for (void* handle : handles_) ::dlclose(handle);
}

OutsideFunction OutsideKernels::function(const std::string& symbol) const {
  return reinterpret_cast<OutsideFunction>(functions_.at(symbol));
}

void OutsideKernels::call(const ir::Operator& op, const std::vector<Tensor>& operands,
                          std::vector<Tensor>& results) const {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel && is_block_dim(op, d)) numbers.push_back(d);
  for (const ir::Box& box : application_boxes(op, numbers, op.box())) call_on(box, op, operands, results);
}

void OutsideKernels::call_on(const ir::Box& box, const ir::Operator& op, const std::vector<Tensor>& operands,
                             std::vector<Tensor>& results) const {
  OutsideFunction kernel = function(op.kernel()->symbol);
  Gathered regions;
  for (const ir::Access& read : op.reads) {
    ir::Box bounds = read.projection.bounds(box);
    Tensor region(op.operands[read.tensor].element, bounds.shape());
    if (read.fill) store_scalar(region, op.exprs[*read.fill].value);
    Tensor whole = operands[read.tensor];
    copy_shared(bounds, region, whole, true);
    regions.add(std::move(region));
  }
  ir::Box points = box;  // for an empty reduction, the kernel still writes the identity
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) points.dims[d] = {0, 1};
  for (const ir::Access& write : op.writes)
    regions.add(Tensor(op.results[write.tensor].element, write.projection.bounds(points).shape()));

  std::vector<OutsideRegion> arguments;
  for (std::size_t i = 0; i < regions.tensors.size(); ++i)
    arguments.push_back({regions.tensors[i].mutable_data(), regions.shapes[i].data(), regions.strides[i].data()});
  std::vector<std::int64_t> ranges, extents;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    ranges.insert(ranges.end(), {box.dims[d].lo, box.dims[d].hi});
    extents.push_back(op.dims[d].range.size());
  }
  kernel(ranges.data(), extents.data(), arguments.data());
  for (std::size_t i = 0; i < op.writes.size(); ++i)
    copy_shared(op.writes[i].projection.bounds(points), regions.tensors[op.reads.size() + i],
                results[op.writes[i].tensor], false);
}

}  // namespace tap::driver
