// Verdicts are kept by what a monoid computes, not by its names, and a text that is no verdict is not believed.
#include "compiler/frontend/proofs/laws_memory.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/graph.h"
#include "tests/frontend/build_monoid.h"

namespace tap {
namespace {

using namespace testing;
using ir::Law;

struct StoreInMemory : TextStore {
  std::map<std::string, std::string> texts;
  int found = 0;
  std::optional<std::string> find(const std::string& key) override {
    auto at = texts.find(key);
    if (at == texts.end()) return std::nullopt;
    ++found;
    return at->second;
  }
  void store(const std::string& key, const std::string& text) override { texts[key] = text; }
};

ir::Monoid product_of(ElementType type, const std::string& name, bool with_unused_cells = false) {
  MonoidBuilder m({type});
  if (with_unused_cells) m.a(0) - m.b(0);
  m.identity({m.f(1, type)});
  m.combine({m.a(0) * m.b(0)});
  ir::Monoid monoid = m.build();
  monoid.name = name;
  monoid.components[0].name = name + "_of_it";
  return monoid;
}

TEST(LawMemory, KeyDependsOnTheComputation) {
  EXPECT_EQ(law_key({}, product_of(ElementType::f32, "p")), law_key({}, product_of(ElementType::f32, "q", true)));
  EXPECT_NE(law_key({}, product_of(ElementType::f32, "p")), law_key({}, product_of(ElementType::f64, "p")));
}

TEST(LawMemory, KeyDependsOnTheMonoidsOfAFold) {
  auto with_fold = [](std::uint32_t by) {
    MonoidBuilder m({ElementType::f32});
    m.identity({m.f(0)});
    m.combine({m.a(0) + m.b(0)});
    m.fold_to({m.reduce(ir::MonoidId(by), m.x(0))});
    return m.build();
  };
  ir::Program program;
  program.monoids = {*ir::builtin_monoid("sum", ElementType::f32), *ir::builtin_monoid("max", ElementType::f32),
                     *ir::builtin_monoid("sum", ElementType::f32)};
  EXPECT_EQ(law_key(program, with_fold(0)), law_key(program, with_fold(2)));
  EXPECT_NE(law_key(program, with_fold(0)), law_key(program, with_fold(1)));
}

TEST(LawMemory, ReadsVerdictsFromTheStore) {
  StoreInMemory store;
  LawVerdict first = LawMemory(&store).verdict({}, product_of(ElementType::f32, "p"));
  EXPECT_EQ(store.texts.size(), 1u);
  EXPECT_EQ(LawMemory(&store).verdict({}, product_of(ElementType::f32, "q")), first);
  EXPECT_EQ(store.found, 1);
}

TEST(LawMemory, IgnoresMalformedEntries) {
  ir::Monoid product = product_of(ElementType::f32, "p");
  for (const char* text : {"", "proved", "proved proved perhaps unknown \n", "broken proved proved unknown \n"}) {
    StoreInMemory store;
    store.texts[law_key({}, product)] = text;
    EXPECT_EQ(LawMemory(&store).verdict({}, product).laws.associative, Law::proved) << text;
  }
}

TEST(LawMemory, DoesNotStoreRefutations) {
  MonoidBuilder m({ElementType::f32});
  m.identity({m.f(0)});
  m.combine({m.a(0) - m.b(0)});
  StoreInMemory store;
  EXPECT_FALSE(LawMemory(&store).verdict({}, m.build()).broken.empty());
  EXPECT_TRUE(store.texts.empty());
}

TEST(LawMemory, VerdictsRoundTrip) {
  LawVerdict verdict;
  verdict.laws = {Law::assumed, Law::proved, Law::broken, Law::unknown};
  verdict.assumed = {{"associative", "an exponential may overflow"}, {"fold", ""}};
  EXPECT_EQ(parse_verdict(to_text(verdict)), verdict);
}

}  // namespace
}  // namespace tap
