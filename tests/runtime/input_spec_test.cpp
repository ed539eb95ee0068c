#include "runtime/tensors/input_spec.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/tensors/npy.h"
#include "runtime/tensors/print_tensor.h"
#include "runtime/write_file.h"
#include "temp_folder.h"

namespace tap {
namespace {

void malformed(const std::string& text, const std::string& part) {
  expect_failure([&] { parse_input_spec(text); }, 2, part);
}
Tensor made(const std::string& text, ElementType type, const std::optional<Shape>& shape = std::nullopt) {
  TensorFiles files;
  return materialise(parse_input_spec(text), type, shape, files);
}
void refused_input(const std::string& text, ElementType type, const std::optional<Shape>& shape, int exit_code,
                   const std::string& part) {
  expect_failure([&] { made(text, type, shape); }, exit_code, part);
}

TEST(InputSpec, Files) {
  InputSpec spec = parse_input_spec(" X = @dir=a/x:1.npy ");
  EXPECT_EQ(spec.name, "X");
  EXPECT_EQ(std::get<FileValue>(spec.value), (FileValue{"dir=a/x:1.npy", ""}));
  EXPECT_EQ(std::get<FileValue>(parse_input_spec("X=@all.npz:layer/w").value), (FileValue{"all.npz", "layer/w"}));
  EXPECT_EQ(std::get<FileValue>(parse_input_spec("X=@all.safetensors:w").value), (FileValue{"all.safetensors", "w"}));
  EXPECT_EQ(parse_input_spec("@all.npz").name, "");
  EXPECT_EQ(std::get<FileValue>(parse_input_spec("@all.safetensors").value).path, "all.safetensors");
  malformed("@x.npy", "the name of the input is missing");
  malformed("@all.npz:w", "the name of the input is missing");
  malformed("X=@x.csv", "does not end in .npy, .npz or .safetensors");
  malformed("X=@.npy", "does not end in");
  malformed("X=@x.npy:w", "does not end in");
  malformed(std::string("X=@x\0.npy", 9), "NUL");
}

TEST(InputSpec, NamesAndValues) {
  malformed("", "expected a name and `=`");
  malformed("X", "expected a name and `=`");
  malformed("=1", "`` is not the name of an input");
  malformed("1x=1", "`1x` is not the name");
  malformed("a b=1", "`a b` is not the name");
  malformed("X=", "expected a value");
  malformed("X=abc", "`abc` is neither a number nor a generator");
  malformed("X=1,2,3", "several values need brackets");
  malformed("X=rand", "`rand` takes a number");
  malformed("X=zeros:1", "takes no number");
  malformed("X=rand:-1", "the seed `-1`");
  malformed("X=rand:18446744073709551616", "the seed");
  malformed("X=const:abc", "`abc` is not a number");
  malformed("X=\x1b[31m", "`X=\\x1b[31m` is malformed");
}

TEST(InputSpec, ExplicitTypesAndShapes) {
  InputSpec spec = parse_input_spec("W=f32[4, 8]=rand:42");
  EXPECT_EQ(spec.own, (TypedShape{ElementType::f32, {4, 8}}));
  EXPECT_EQ(std::get<Maker>(spec.value).seed, 42u);
  TensorFiles files;
  EXPECT_EQ(own_shape(spec, files), (Shape{4, 8}));
  EXPECT_EQ(own_shape(parse_input_spec("W=[[1, 2, 3]]"), files), (Shape{1, 3}));
  EXPECT_EQ(own_shape(parse_input_spec("W=rand:42"), files), std::nullopt);
  EXPECT_EQ(made("s=i8[]=const:-3", ElementType::i8).load_i64(0), -3);
  EXPECT_EQ(made("s=bool[0]=ones", ElementType::boolean).size(), 0);
  malformed("W=f32[4", "`]` is missing");
  malformed("W=f32[4]", "expected `=` and a value after the shape");
  malformed("W=f32[4,]=zeros", "expected an extent");
  malformed("W=f32[-4]=zeros", "the extent `-4`");
  malformed("W=f32[n]=zeros", "the extent `n`");
  malformed("W=f32[9223372036854775808]=zeros", "the extent");
  refused_input("W=f32[4294967296,4294967296]=zeros", ElementType::f32, std::nullopt, 3, "does not fit in 64 bits");
  refused_input("W=f32[1000000,30000]=zeros", ElementType::f16, std::nullopt, 3, "is declared as f16, but");
  refused_input("W=f64[1000000,100000]=zeros", ElementType::f64, std::nullopt, 4, "do not fit in memory");
}

TEST(InputSpec, E07TypeAndShapeMustMatchTheDeclaration) {
  TempFolder folder;
  folder.write("x.npy", npy_header(ElementType::f64, {2}) + std::string(16, '\0'));
  std::string file = "X=@" + folder.file("x.npy");
  EXPECT_EQ(made(file, ElementType::f64).shape(), (Shape{2}));
  EXPECT_EQ(made(file, ElementType::f64, Shape{2}).shape(), (Shape{2}));
  refused_input(file, ElementType::f32, Shape{2, 2}, 3,
                "the input `X` is declared as f32[2, 2], but `" + folder.file("x.npy") + "` contains f64[2]");
  refused_input(file, ElementType::f64, Shape{3}, 3, "is declared as f64[3], but");
  refused_input("X=[1, 2]", ElementType::f64, Shape{3}, 3, "but `-i X=[1, 2]` has shape [2]");
  refused_input("X=1", ElementType::f64, Shape{3}, 3, "const:VALUE fills");
  refused_input("X=rand:1", ElementType::f64, std::nullopt, 2, "gives no shape, and the program leaves it open");
  refused_input("X=f32[2]=zeros", ElementType::f64, Shape{2}, 3, "is declared as f64[2]");
}

TEST(InputSpec, Literals) {
  Tensor t = made("X=[[1, 2.5], [-3e2, inf]]", ElementType::f32);
  EXPECT_EQ(t.shape(), (Shape{2, 2}));
  EXPECT_EQ(t.load_f64(1), 2.5);
  EXPECT_EQ(t.load_f64(2), -300);
  EXPECT_EQ(t.load_f64(3), INFINITY);
  EXPECT_EQ(made("X=9223372036854775807", ElementType::i64).load_i64(0), INT64_MAX);
  EXPECT_EQ(made("X=-9223372036854775808", ElementType::i64).load_i64(0), INT64_MIN);
  EXPECT_TRUE(std::signbit(made("X=-0", ElementType::f16).load_f64(0)));
  EXPECT_EQ(made("X=-0", ElementType::i8).load_i64(0), 0);
  EXPECT_TRUE(std::isnan(made("X=nan", ElementType::bf16).load_f64(0)));
  EXPECT_EQ(made("X=[true, 0]", ElementType::boolean).load_i64(0), 1);
  EXPECT_EQ(made("X=[]", ElementType::f32).shape(), (Shape{0}));
  EXPECT_EQ(made("X=[[], []]", ElementType::f32).shape(), (Shape{2, 0}));
  EXPECT_EQ(made("X=[[[7]]]", ElementType::u8).shape(), (Shape{1, 1, 1}));
}

TEST(InputSpec, MalformedLiterals) {
  for (const char* ragged :
       {"[1, [2]]", "[[1], 2]", "[[1], [2, 3]]", "[[1], []]", "[[], [1]]", "[[[]], []]", "[[1, 2], [[3]]]"}) {
    malformed(std::string("X=") + ragged, "its rows have different shapes");
  }
  malformed("X=[1, 2", "expected `,` or `]`");
  malformed("X=[1, ]", "expected an element after `,`");
  malformed("X=[1]]", "unexpected text after byte");
  malformed("X=1 2", "unexpected text after byte");
  malformed("X=]", "unmatched `]`");
  malformed("X=[,1]", "`` is not a number");
  malformed("X=[", "is not a number");
  malformed("X=" + std::string(1000000, '['), "more than 64 dims");
  for (const char* number : {"0x10", "1_000", "infinity", "1,5", "--1", "1e", "+1", "NaN", "1.5f"}) {
    EXPECT_EQ(thrown_by([&] { parse_input_spec(std::string("X=") + number); }).exit_code, 2) << number;
  }
  malformed("X=1e999", "out of range");
  malformed("X=9223372036854775808", "does not fit in 64 bits");
}

TEST(InputSpec, UnrepresentableValues) {
  refused_input("X=128", ElementType::i8, Shape{}, 2, "stores 128, which is beyond the range of i8");
  refused_input("X=-1", ElementType::u8, Shape{}, 2, "stores -1, which is beyond the range of u8");
  refused_input("X=2", ElementType::boolean, Shape{}, 2, "stores 2, which is beyond the range of bool");
  refused_input("X=1.5", ElementType::i32, Shape{}, 2, "stores the float 1.5 in a tensor of i32");
  refused_input("X=true", ElementType::f32, Shape{}, 2, "stores true in a tensor of f32");
  refused_input("X=randn:1", ElementType::i32, Shape{2}, 2, "needs a tensor of floats");
}

TEST(InputSpec, Archives) {
  TempFolder folder;
  Tensor a(ElementType::f32, {2}), b(ElementType::bf16, {});
  a.store_f64(1, 5);
  write_files({{folder.file("all.npz"), encode_npz({{"A", a}, {"x", a}})},
               {folder.file("all.safetensors"), encode_safetensors({{"A", a}, {"B", b}})},
               {folder.file("one.npz"), encode_npz({{"arr_0", a}})}});
  TensorFiles files;
  auto load = [&](const std::string& text, ElementType type) {
    return materialise(parse_input_spec(text), type, std::nullopt, files);
  };
  EXPECT_EQ(load("Q=@" + folder.file("all.npz") + ":x", ElementType::f32).load_f64(1), 5);
  EXPECT_EQ(load("A=@" + folder.file("all.npz"), ElementType::f32).load_f64(1), 5);
  EXPECT_EQ(load("Q=@" + folder.file("one.npz"), ElementType::f32).load_f64(1), 5);  // the sole entry
  EXPECT_EQ(load("B=@" + folder.file("all.safetensors"), ElementType::bf16).type(), ElementType::bf16);
  expect_failure([&] { load("Q=@" + folder.file("all.npz"), ElementType::f32); }, 3, "has 2 entries, none of them `Q`");
  expect_failure([&] { load("Q=@" + folder.file("all.npz") + ":y", ElementType::f32); }, 3, "it has `A`, `x`");
  std::vector<InputSpec> all = expand(parse_input_spec("@" + folder.file("all.safetensors")), files);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "A");
  EXPECT_EQ(materialise(all[1], ElementType::bf16, Shape{}, files).size(), 1);
  EXPECT_EQ(files.paths().size(), 3u);
}

TEST(InputSpec, E13EveryInputOnce) {
  std::vector<DeclaredInput> declared = {{"X", "X: f32[2]"}, {"W", "W: f32[n]"}};
  auto specs = [](std::initializer_list<const char*> texts) {
    std::vector<InputSpec> all;
    for (const char* text : texts) all.push_back(parse_input_spec(text));
    return all;
  };
  auto ordered = match_inputs(specs({"W=ones", "X=zeros"}), declared);
  EXPECT_EQ(ordered[0].name + ordered[1].name, "XW");
  auto match = [&](std::initializer_list<const char*> texts) {
    return [&, list = specs(texts)] { match_inputs(list, declared); };
  };
  expect_failure(match({"X=zeros"}), 3, "no value is given for `W`\nthe program's inputs are X: f32[2]; W: f32[n]");
  expect_failure(match({}), 3, "no value is given for `X`, `W`");
  expect_failure(match({"X=zeros", "X=ones", "W=ones"}), 3, "`X` is given twice, in `X=zeros` and in `X=ones`");
  expect_failure(match({"X=zeros", "W=ones", "Z=1"}), 3, "`Z`, in `Z=1`, is not an input");
  expect_failure([&] { match_inputs(specs({"Z=1"}), {}); }, 3, "the program has no inputs");
}

TEST(Generate, IsTheDocumentedSequence) {
  // splitmix64's first output for the state 0, from its author's reference code.
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFull);
  Tensor t = made("X=rand:0", ElementType::f32, Shape{2});
  EXPECT_EQ(t.load_f64(0), 0xAF / 128.0 - 1);
  EXPECT_EQ(made("X=f16[3]=iota", ElementType::f16).load_f64(2), 2);
  EXPECT_EQ(made("X=i8[200]=iota", ElementType::i8).load_i64(199), 199 - 256);
}

// rand:7, computed by the documented formula in another language.
TEST(Generate, RandIsTheDocumentedSequence) {
  const Tensor floats = made("X=rand:7", ElementType::f64, Shape{6});
  const Tensor integers = made("N=rand:7", ElementType::i64, Shape{6});
  const double f[] = {0.015625, -0.046875, -0.7734375, 0.6328125, 0.5, -0.265625};
  const std::int64_t n[] = {-7, 5, -3, 0, 4, -2};
  for (std::int64_t at = 0; at < 6; ++at) {
    EXPECT_EQ(floats.load_f64(at), f[at]);
    EXPECT_EQ(integers.load_i64(at), n[at]);
  }
}

TEST(Generate, RandIsInRangeCoversItAndDependsOnThePositionOnly) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    auto type = static_cast<ElementType>(i);
    Tensor flat = made("X=rand:7", type, Shape{6000}), square = made("X=rand:7", type, Shape{60, 100});
    EXPECT_EQ(bytes_of(Content::value_type(flat)), bytes_of(Content::value_type(square)));
    std::set<double> values;
    for (std::int64_t at = 0; at < flat.size(); ++at) values.insert(flat.load_f64(at));
    EXPECT_EQ(values.size(), is_float(type) ? 256u : is_bool(type) ? 2u : type == ElementType::u8 ? 9u : 17u);
    double least = is_float(type) ? -1 : is_bool(type) || type == ElementType::u8 ? 0 : -8;
    EXPECT_EQ(*values.begin(), least);
    EXPECT_EQ(*values.rbegin(), is_float(type) ? 127.0 / 128 : is_bool(type) ? 1 : 8);
  }
  EXPECT_NE(made("X=rand:1", ElementType::f32, Shape{8}).load_f64(0),
            made("X=rand:2", ElementType::f32, Shape{8}).load_f64(0));
}

TEST(Generate, RandnHasTheMomentsOfANormal) {
  Tensor t = made("X=randn:3", ElementType::f64, Shape{200000});
  double moment[5] = {};
  for (double v : t.as<double>()) {
    for (int k = 1; k < 5; ++k) moment[k] += std::pow(v, k) / 200000;
    ASSERT_LT(std::fabs(v), 6);
  }
  EXPECT_NEAR(moment[1], 0, 0.01);
  EXPECT_NEAR(moment[2], 1, 0.02);
  EXPECT_NEAR(moment[3], 0, 0.03);
  EXPECT_NEAR(moment[4], 3 - 0.1, 0.1);  // a sum of twelve has a kurtosis of 2.9
}

TEST(PrintTensor, LooksLikeNumPyAndRoundTrips) {
  EXPECT_EQ(print_tensor(made("X=[[1, -0.5], [inf, nan]]", ElementType::f32)), "[[ 1.0, -0.5],\n [ inf,  nan]]");
  EXPECT_EQ(print_tensor(made("X=[[[1], [20]], [[3], [4]]]", ElementType::i32)),
            "[[[ 1],\n  [20]],\n\n [[ 3],\n  [ 4]]]");
  EXPECT_EQ(print_tensor(made("X=0.1", ElementType::f32)), "0.1");
  EXPECT_EQ(print_tensor(made("X=0.1", ElementType::f16)), "0.1");
  EXPECT_EQ(print_tensor(made("X=[65504, 6e-8]", ElementType::f16)), "[65500.0,   6e-08]");
  EXPECT_EQ(print_tensor(made("X=3.14159", ElementType::bf16)), "3.14");
  EXPECT_EQ(print_tensor(made("X=1e20", ElementType::f64)), "1e+20");
  EXPECT_EQ(print_tensor(made("X=[true, false]", ElementType::boolean)), "[ true, false]");
  EXPECT_EQ(print_tensor(made("X=[]", ElementType::f32)), "[]");
  EXPECT_EQ(print_tensor(Tensor(ElementType::f32, {std::int64_t{1} << 40, 0})), "[] of the shape [1099511627776, 0]");
  for (std::size_t i = 0; i < element_type_count; ++i) {
    auto type = static_cast<ElementType>(i);
    Tensor t = made(is_float(type) ? "X=randn:5" : "X=rand:5", type, Shape{7, 9, 4});
    Tensor back = made("X=" + print_tensor(t), type);
    EXPECT_EQ(bytes_of(Content::value_type(t)), bytes_of(Content::value_type(back))) << name_of(type);
  }
}

TEST(PrintTensor, LargeTensorsShowTheirEdges) {
  EXPECT_EQ(print_tensor(made("X=i64[2000]=iota", ElementType::i64)), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  std::string rows = print_tensor(made("X=i64[2000, 2]=iota", ElementType::i64));
  EXPECT_EQ(rows,
            "[[   0,    1],\n [   2,    3],\n [   4,    5],\n ...,\n [3994, 3995],\n [3996, 3997],\n [3998, 3999]]");
  EXPECT_EQ(print_tensor(made("X=i64[7]=iota", ElementType::i64), {.most_elements = 6}), "[0, 1, 2, 3, 4, 5, 6]");
}

TEST(PrintTensor, EveryHalfRoundTrips) {
  Tensor t(ElementType::f16, {});
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    t.as_mutable<std::uint16_t>()[0] = static_cast<std::uint16_t>(bits);
    double value = t.load_f64(0);
    if (std::isnan(value)) continue;
    ASSERT_EQ(made("X=" + print_element(t, 0), ElementType::f16).as<std::uint16_t>()[0], bits);
  }
}

}  // namespace
}  // namespace tap
