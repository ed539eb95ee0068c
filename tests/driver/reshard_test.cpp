#include "compiler/driver/reshard/reshard_files.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/driver/reshard/part_files.h"
#include "runtime/tensors/npy.h"
#include "tests/runtime/temp_folder.h"

namespace tap::driver {
namespace {

std::vector<ir::Point> points_of(const ir::Box& box) {
  std::vector<ir::Point> points;
  for (auto point = ir::first_point(box); point;) {
    points.push_back(*point);
    if (!ir::next_point(box, *point)) break;
  }
  return points;
}

std::int64_t position(const ir::Point& point, const Shape& shape) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + point[d];
  return at;
}

TEST(Reshard, SlabsAreTheCellsInOrder) {
  for (const Shape& shape : {Shape{}, {1}, {7}, {0, 3}, {5, 1, 3}, {2, 3, 4, 5}, {1, 1, 9}})
    for (std::int64_t most : {1, 2, 3, 5, 7, 12, 20, 60, 1000}) {
      std::vector<std::int64_t> order;
      for_each_slab(shape, most, [&](const ir::Box& slab) {
        EXPECT_LE(slab.size(), most);
        for (const ir::Point& point : points_of(slab)) order.push_back(position(point, shape));
      });
      ASSERT_EQ(static_cast<std::int64_t>(order.size()), element_count(shape)) << to_string(shape) << " by " << most;
      for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(order[k], static_cast<std::int64_t>(k));
    }
}

// Random cuts of every axis; a grid of boxes.
std::vector<ir::Box> random_grid(const Shape& shape, std::mt19937& draw) {
  std::vector<ir::Box> boxes{{}};
  for (std::int64_t extent : shape) {
    std::set<std::int64_t> cuts{0, extent};
    for (int k = 0; k < 2; ++k) cuts.insert(std::uniform_int_distribution<std::int64_t>(0, extent)(draw));
    std::vector<ir::Box> next;
    for (const ir::Box& box : boxes)
      for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
        next.push_back(box);
        next.back().dims.push_back({*cut, *std::next(cut)});
      }
    boxes = std::move(next);
  }
  return boxes;
}

std::string npy_of(const ir::Box& box, const Shape& shape) {
  std::string bytes = npy_header(ElementType::i32, box.shape());
  for (const ir::Point& point : points_of(box)) {
    const auto value = static_cast<std::int32_t>(position(point, shape));
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

// Every cell is its position: files hold the right ones whatever the slabs are.
TEST(Reshard, CellsDoNotDependOnSlabs) {
  std::mt19937 draw(21);
  for (const Shape& shape : {Shape{}, {11}, {6, 5}, {3, 4, 5}, {2, 3, 2, 4}})
    for (std::int64_t slab : {4, 8, 28, 64, 100000}) {
      const TempFolder folder;
      PartedTensors from;
      from.tensors.push_back({"", ElementType::i32, shape, {}, {}});
      for (const ir::Box& box : random_grid(shape, draw)) {
        const std::size_t number = from.files.size();
        from.files.emplace_back(folder.write("in" + std::to_string(number) + ".npy", npy_of(box, shape)));
        from.tensors[0].parts.push_back({box, number, from.files.back().tensors()[0]});
      }
      std::vector<WrittenFile> files;
      for (const ir::Box& box : random_grid(shape, draw))
        files.push_back({folder.file("out" + std::to_string(files.size()) + ".npy"), {{0, box, ""}}});
      write_resharded(from, files, slab);
      for (const WrittenFile& file : files)
        EXPECT_EQ(read_file(file.path), npy_of(file.parts[0].box, shape)) << ir::to_string(file.parts[0].box);
    }
}

TEST(Reshard, NamesOfParts) {
  EXPECT_EQ(part_file("a.b/y.npy", 2, 12), "a.b/y-00002-of-00012.npy");
  EXPECT_EQ(part_file("y.npy", 3, 1234567), "y-00003-of-1234567.npy");
  EXPECT_EQ(whole_of_part("y-00002-of-00012.npy"), "y.npy");
  EXPECT_EQ(whole_of_part("a-00001-of-00002-00002-of-00012.npy"), "a-00001-of-00002.npy");
  for (const char* name : {"y.npy", "y-2-of-3.npy", "y-00003-of-00002.npy", "y-00000-of-00002.npy", "y-00001-of-00002",
                           "y-0000x-of-00002.npy", "-of-", "", "y-00001-of-99999999999999999999.npy"})
    EXPECT_EQ(whole_of_part(name), std::nullopt) << name;
}

}  // namespace
}  // namespace tap::driver
