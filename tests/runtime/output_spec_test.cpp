#include "runtime/tensors/output_spec.h"

#include <gtest/gtest.h>

#include "temp_folder.h"

namespace tap {
namespace {

const std::vector<DeclaredOutput> declared = {{"Y", ElementType::f32}, {"Z", ElementType::bf16}};

std::vector<OutputSpec> specs(const std::vector<std::string>& texts) {
  std::vector<OutputSpec> all;
  for (const std::string& text : texts) all.push_back(parse_output_spec(text));
  return all;
}
void refused_output(const std::vector<std::string>& texts, const std::string& part, int exit_code = 2) {
  expect_failure([&] { check_outputs(specs(texts), declared, {}); }, exit_code, part);
}

TEST(OutputSpec, Forms) {
  EXPECT_EQ(parse_output_spec("Y=@y.npy"), (OutputSpec{"Y=@y.npy", "Y", "y.npy"}));
  EXPECT_EQ(parse_output_spec("@all.npz"), (OutputSpec{"@all.npz", "", "all.npz"}));
  EXPECT_EQ(parse_output_spec("Y=-"), (OutputSpec{"Y=-", "Y", ""}));
  EXPECT_EQ(parse_output_spec("-"), (OutputSpec{"-", "", ""}));
  for (auto [text, part] : {std::pair{"Y", "a name and `=`"},
                            {"Y=y.npy", "expected `@` and a file name"},
                            {"@y.npy", "the name of the result is missing"},
                            {"Y=@y.txt", "does not end in"},
                            {"1=-", "`1` is not the name"},
                            {"", "a name and `=`"}}) {
    expect_failure([&, t = text] { parse_output_spec(t); }, 2, part);
  }
}

TEST(OutputSpec, Errors) {
  EXPECT_NO_THROW(check_outputs(
      specs({"Y=@y.npy", "Z=@z.safetensors", "Y=@all.safetensors", "Z=@all.safetensors", "-"}), declared, {}));
  refused_output({"Q=@q.npy"}, "`Q`, in `Q=@q.npy`, is not a result of the program\nits results are `Y`, `Z`");
  refused_output({"Z=@z.npy"}, "NumPy has no bf16\nwrite Z=@Z.safetensors");
  refused_output({"@all.npz"}, "cannot hold the result `Z`");
  refused_output({"Y=@y.npy", "Y=@y.npy"}, "`y.npy` is given for two outputs");
  refused_output({"Y=@a.safetensors", "@a.safetensors"}, "the result `Y` is written into `a.safetensors` twice");
}

TEST(OutputSpec, E12OutputOverAnInput) {
  TempFolder folder;
  std::string input = folder.write("x.npy", "data");
  std::filesystem::create_symlink(input, folder.file("soft.npy"));
  std::filesystem::create_hard_link(input, folder.file("hard.npy"));
  for (const char* name : {"x.npy", "soft.npy", "hard.npy", "./x.npy"}) {
    expect_failure([&] { check_outputs(specs({"Y=@" + folder.file(name)}), declared, {input}); }, 3,
                   "is the same file as the input");
  }
  EXPECT_NO_THROW(check_outputs(specs({"Y=@" + folder.file("y.npy")}), declared, {input}));
  folder.write("y.npy", "");
  std::filesystem::create_symlink(folder.file("y.npy"), folder.file("z.npy"));
  expect_failure(
      [&] {
        check_outputs(specs({"Y=@" + folder.file("y.npy"), "Y=@" + folder.file("z.npy")}), declared, {});
      },
      2, "are the same file, given for two outputs");
}

TEST(OutputSpec, PlansOneFilePerPath) {
  TempFolder folder;
  Tensor y(ElementType::f32, {2}), z(ElementType::bf16, {});
  y.store_f64(0, 1.5);
  std::string both = folder.file("both.safetensors"), single = folder.file("y.npy");
  PlannedOutputs plan = plan_outputs(specs({"Y=@" + both, "Y=@" + single, "Z=@" + both, "Z=-"}), {{"Y", y}, {"Z", z}});
  ASSERT_EQ(plan.files.size(), 2u);
  ASSERT_EQ(plan.printed.size(), 1u);
  EXPECT_EQ(plan.printed[0].name, "Z");
  write_files(plan.files);
  TensorFiles files;
  EXPECT_EQ(files.load(single).load_f64(0), 1.5);
  EXPECT_EQ(files.entries(both), (std::vector<std::string>{"Y", "Z"}));
  EXPECT_EQ(files.load(both, "Z").type(), ElementType::bf16);
}

}  // namespace
}  // namespace tap
