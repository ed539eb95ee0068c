#include "runtime/tensors/tensor_part.h"

#include <gtest/gtest.h>

#include "runtime/tensors/input_spec.h"
#include "runtime/tensors/npy.h"
#include "runtime/write_file.h"
#include "temp_folder.h"

namespace tap {
namespace {

Tensor tensor_of(const std::string& text, ElementType type, const Shape& shape, const TensorPart* part = nullptr) {
  TensorFiles files;
  return materialise(parse_input_spec(text), type, shape, files, part);
}
void expect_equal(const Tensor& found, const Tensor& expected, const std::string& where) {
  ASSERT_EQ(found.shape(), expected.shape()) << where;
  EXPECT_EQ(bytes_of(found), bytes_of(expected)) << where;
}

// All boxes of a small tensor.
template <class Each>
void for_each_part(const Shape& shape, const Each& each) {
  TensorPart part{Shape(shape.size()), Shape(shape.size())};
  auto next = [&](auto& self, std::size_t axis) -> void {
    if (axis == shape.size()) return each(part);
    for (part.begin[axis] = 0; part.begin[axis] <= shape[axis]; ++part.begin[axis])
      for (part.shape[axis] = 0; part.begin[axis] + part.shape[axis] <= shape[axis]; ++part.shape[axis])
        self(self, axis + 1);
  };
  next(next, 0);
}

TEST(TensorPart, CutAndPasteByCoordinates) {
  const Shape shape{3, 2, 4};
  const Tensor whole = tensor_of("X=iota", ElementType::i32, shape);
  for_each_part(shape, [&](const TensorPart& part) {
    const Tensor cells = cut(whole, part);
    ASSERT_EQ(cells.shape(), part.shape);
    Tensor back(ElementType::i32, shape);
    paste(back, part, cells);
    std::int64_t at = 0, position = 0;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 2; ++j)
        for (std::int64_t k = 0; k < 4; ++k, ++position) {
          const Shape point{i, j, k};
          bool inside = true;
          for (std::size_t d = 0; d < 3; ++d)
            inside &= part.begin[d] <= point[d] && point[d] < part.begin[d] + part.shape[d];
          if (inside) { ASSERT_EQ(cells.load_i64(at++), position); }
          ASSERT_EQ(back.load_i64(position), inside ? position : 0);
        }
    ASSERT_EQ(at, cells.size());
  });
}

// A box of generated values has the values that the whole tensor has there; files and literals likewise.
TEST(TensorPart, InputsHaveTheSameValuesInParts) {
  const Shape shape{4, 1, 3};
  TempFolder folder;
  const Tensor numbers = tensor_of("X=randn:3", ElementType::f32, shape);
  write_files({{folder.file("x.npy"), {npy_header(ElementType::f32, shape), numbers}}});
  for (const std::string& text :
       {std::string("X=rand:7"), std::string("X=randn:7"), std::string("X=iota"), std::string("X=ones"),
        std::string("X=zeros"), std::string("X=const:2.5"), "X=@" + folder.file("x.npy"),
        std::string("X=[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[10, 11, 12]]]")}) {
    const Tensor whole = tensor_of(text, ElementType::f32, shape);
    for_each_part(shape, [&](const TensorPart& part) {
      expect_equal(tensor_of(text, ElementType::f32, shape, &part), cut(whole, part), text);
    });
  }
}

TEST(TensorPart, ScalarsAndTheFirstCell) {
  const Tensor scalar = tensor_of("X=3.5", ElementType::f32, {});
  expect_equal(cut(scalar, first_cell({})), scalar, "scalar");
  EXPECT_EQ(first_cell({4, 0}).shape, (Shape{1, 0}));
  EXPECT_EQ(first_cell({4, 2}).begin, (Shape{0, 0}));
}

}  // namespace
}  // namespace tap
