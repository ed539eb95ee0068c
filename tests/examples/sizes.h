// The files of examples/ at sizes at which tests can try much on them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tap {

struct Example {
  const char* file;
  std::map<std::string, std::int64_t> dims;
};
inline const Example examples[] = {
    {"linear.tap", {{"batch", 3}, {"in", 4}, {"out", 5}}},
    {"mlp.tap", {{"batch", 3}, {"width", 4}, {"hidden", 5}}},
    {"attention.tap", {{"heads", 2}, {"n", 5}, {"d", 4}}},
    {"transformer.tap", {{"layers", 2}, {"n", 3}, {"model", 8}, {"heads", 2}, {"d", 4}, {"wide", 6}}},
    {"convnet.tap", {{"batch", 2}, {"size", 6}, {"c1", 2}, {"c2", 4}, {"classes", 5}}},
    {"jacobi.tap", {{"n", 5}, {"steps", 3}}},
    {"heat.tap", {{"n", 4}, {"steps", 2}}},
    {"life.tap", {{"n", 5}, {"steps", 3}}},
    {"cg.tap", {{"n", 5}, {"steps", 4}}},
    {"mttkrp.tap", {{"l", 3}, {"m", 4}, {"n", 5}, {"terms", 3}}},
    {"kmeans.tap", {{"points", 9}, {"clusters", 3}, {"d", 2}, {"steps", 2}}},
    {"nearest.tap", {{"points", 9}, {"queries", 4}}},
    {"fft.tap", {}},
    {"recurrence.tap", {{"n", 5}, {"d", 3}, {"states", 2}}},
    {"logistic.tap", {{"samples", 5}, {"features", 3}}},
    {"smooth.tap", {{"n", 5}, {"m", 3}}},
};

}  // namespace tap
