#include "cost/work/traffic_walk.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "cost/work/loop_walk.h"
#include "cost/work/phases.h"
#include "cost/work/touched_data.h"

namespace tap::cost {

using namespace backend;

namespace {

// Two amounts by cache level and tensor, one after the other: first the bytes missed, then those of starts.
class Missed {
 public:
  Missed(std::size_t amounts, std::size_t tensors, double value) : tensors_(tensors), all_(amounts * tensors, value) {}

  std::span<double> operator[](std::size_t amount) { return {all_.data() + amount * tensors_, tensors_}; }
  std::span<const double> operator[](std::size_t amount) const { return {all_.data() + amount * tensors_, tensors_}; }
  void add(const Missed& part, double times) {
    for (std::size_t k = 0; k < all_.size(); ++k) all_[k] += times * part.all_[k];
  }

 private:
  std::size_t tensors_;
  std::vector<double> all_;
};

// One statement of a body: what it touches, and the room for it.
struct Piece {
  TouchedAll touched;
  Room room;
};

// The misses of a body, and what a loop around it needs to know: how many are of data that the body has not touched before,
// and what share of that data is still cached if the iteration before touched it.
struct BodyMisses {
  Missed all, first, kept;
};

double sum_of(std::span<const double> amounts) { return std::accumulate(amounts.begin(), amounts.end(), 0.0); }

// Data that is touched again misses only once as far as it is kept in between.
void reuse(double& missed, double once, double kept) { missed = kept * std::min(once, missed) + (1 - kept) * missed; }

class TrafficWalk {
 public:
  TrafficWalk(const Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work)
      : kernel_(kernel),
        device_(device),
        work_(work),
        phases_(phases_of(kernel)),
        values_(kernel, box),
        decides_(deciding_variables(kernel)),
        data_(kernel, device, values_) {}

  void run() {
    if (phases_) work_.phases.resize(phases_->size(), {0, {}});
    for (PhaseWork& phase : work_.phases) phase.missed.assign(levels(), 0);
    const Missed missed = misses_of(kernel_.body).all;
    const TouchedAll touched = data_.touches(kernel_.body);
    std::vector<TensorWork>& all = work_.tensors;
    all.resize(kernel_.tensors.size());
    for (std::uint32_t t = 0; t < all.size(); ++t) {
      all[t].local = kernel_.tensors[t].local.has_value();
      for (std::size_t c = 0; c < levels(); ++c) {
        all[t].missed.push_back(missed[c][t]);
        all[t].starts.push_back(missed[levels() + c][t]);
      }
      if (!touched[t]) continue;
      all[t].bytes = data_.bytes_of(t, *touched[t]);
      all[t].reads = touched[t]->reads;
      all[t].writes = touched[t]->writes;
    }
  }

 private:
  std::size_t levels() const { return data_.levels(); }
  std::size_t amounts() const { return 2 * levels(); }
  std::size_t level_of(std::size_t amount) const { return amount % levels(); }
  double loaded_once(std::size_t amount, std::uint32_t tensor, const Touched& touched) const {
    return amount < levels() ? data_.bytes_of(tensor, touched) : data_.starts_of(tensor, touched);
  }
  Missed all(double value) const { return {amounts(), kernel_.tensors.size(), value}; }

  BodyMisses misses_of(const std::vector<Statement>& body) {
    const TouchedAll whole = data_.touches(body);
    const Room room = data_.room_for(whole);
    std::vector<double> fits(levels(), 0);
    for (std::size_t c = 0; c < levels(); ++c) fits[c] = share_kept(sum_of(room[c]), device_.levels[c].bytes);
    BodyMisses sum{all(0), all(0), all(0)};
    if (has_serial_loop(body)) {
      sum = in_order(body);
    } else {
      sum.all = sum.first = loaded_once(whole);
    }
    // Data of earlier statements is still cached for later ones, if everything fits.
    for (std::size_t a = 0; a < amounts(); ++a)
      for (std::uint32_t t = 0; t < whole.size(); ++t) {
        if (whole[t]) reuse(sum.all[a][t], loaded_once(a, t, *whole[t]), fits[level_of(a)]);
        sum.first[a][t] = std::min(sum.first[a][t], sum.all[a][t]);
        sum.kept[a][t] = std::max(sum.kept[a][t], fits[level_of(a)]);
      }
    return sum;
  }
  BodyMisses in_order(const std::vector<Statement>& body) {
    BodyMisses sum{all(0), all(0), all(0)};
    std::vector<Piece> pieces;
    std::vector<Missed> fresh;  // by piece: the misses of what no earlier piece touches
    for (const Statement& statement : body) {
      const TouchedAll touched = data_.touches(statement);
      pieces.push_back({touched, data_.room_for(touched)});
      Missed missed = misses_of(statement);
      fresh.push_back(find_again(pieces, missed));
      sum.first.add(fresh.back(), 1);
      sum.all.add(missed, 1);
      if (&body == phases_)
        for (std::size_t c = 0; c < levels(); ++c) work_.phases[pieces.size() - 1].missed[c] += sum_of(missed[c]);
    }
    for (std::size_t p = 0; p < pieces.size(); ++p) find_next_time(pieces, p, fresh[p], sum);
    return sum;
  }
  Missed misses_of(const Statement& statement) {
    if (auto* loop = std::get_if<For>(&statement.node)) return misses_of(*loop);
    if (auto* guard = std::get_if<Guard>(&statement.node)) {
      Missed inside = all(0);
      if (const double share = share_of(kernel_, *guard, values_); share > 0)
        inside.add(misses_of(guard->body).all, share);
      return inside;
    }
    if (auto* section = std::get_if<Section>(&statement.node)) return misses_of(section->body).all;
    return loaded_once(data_.touches(statement));
  }
  Missed misses_of(const For& loop) {
    if (!has_serial_loop(loop.body) && loop.kind != LoopKind::serial) return loaded_once(data_.touches(loop));
    const Rounds rounds = rounds_of(loop, values_);
    Missed first = all(0), later = all(0), kept = all(1);
    for (const Sample& sample : samples_of(loop, rounds, decides_[loop.variable])) {
      values_.set(loop.variable, {sample.value, sample.value}, 0);
      const BodyMisses one = misses_of(loop.body);
      first.add(one.first, sample.times);
      later.add(one.all, sample.times);
      later.add(one.first, -sample.times);
      for (std::size_t a = 0; a < amounts(); ++a)
        for (std::size_t t = 0; t < kept[a].size(); ++t)
          if (one.first[a][t] > 0) kept[a][t] = std::min(kept[a][t], one.kept[a][t]);
    }
    const TouchedAll whole = data_.touches(loop);
    for (std::size_t a = 0; a < amounts(); ++a)
      for (std::uint32_t t = 0; t < whole.size(); ++t)
        if (whole[t]) reuse(first[a][t], loaded_once(a, t, *whole[t]), kept[a][t]);
    first.add(later, 1);
    return first;
  }

  Missed loaded_once(const TouchedAll& touched) const {
    Missed once = all(0);
    for (std::uint32_t t = 0; t < touched.size(); ++t)
      for (std::size_t a = 0; a < amounts() && touched[t]; ++a) once[a][t] = loaded_once(a, t, *touched[t]);
    return once;
  }

  // Takes off the misses of the last piece what earlier ones left in the caches; returns those of what they do not touch.
  Missed find_again(const std::vector<Piece>& pieces, Missed& missed) const {
    const std::size_t now = pieces.size() - 1;
    Missed fresh = missed;
    for (std::uint32_t t = 0; t < pieces[now].touched.size(); ++t) {
      if (!pieces[now].touched[t]) continue;
      double again = 0;
      std::vector<double> found(levels(), 0);
      for (std::size_t p = 0; p < now; ++p) {
        const double common = common_bytes(pieces[now], pieces[p], t);
        again = std::max(again, common);
        for (std::size_t c = 0; c < levels() && common > 0; ++c)
          found[c] = std::max(found[c], common * share_kept_between(pieces, p, now, c));
      }
      const double share = std::min(again / std::max(data_.bytes_of(t, *pieces[now].touched[t]), 1.0), 1.0);
      for (std::size_t c = 0; c < levels(); ++c) {
        const double before = missed[c][t];
        fresh[c][t] *= 1 - share;
        missed[c][t] = std::max(before - found[c], fresh[c][t]);
        if (before > 0) fresh[levels() + c][t] *= 1 - share, missed[levels() + c][t] *= missed[c][t] / before;
      }
    }
    return fresh;
  }
  // What share of the data that a piece touches first is still cached if the iteration before touched it: since the last piece
  // that touches the most of it.
  void find_next_time(const std::vector<Piece>& pieces, std::size_t p, const Missed& fresh, BodyMisses& sum) const {
    for (std::uint32_t t = 0; t < pieces[p].touched.size(); ++t) {
      if (!pieces[p].touched[t]) continue;
      std::size_t last = p;
      double most = 0;
      for (std::size_t q = p; q < pieces.size(); ++q)
        if (const double common = common_bytes(pieces[p], pieces[q], t); common >= most) last = q, most = common;
      for (std::size_t a = 0; a < amounts(); ++a)
        if (fresh[a][t] > 0)
          sum.kept[a][t] +=
              fresh[a][t] / sum.first[a][t] * share_kept_between(pieces, last, p + pieces.size(), level_of(a));
    }
  }

  double share_kept_between(const std::vector<Piece>& pieces, std::size_t from, std::size_t to,
                            std::size_t level) const {
    return share_kept(room_between(pieces, from, to, level), device_.levels[level].bytes);
  }
  // The room for what lies between two accesses of the same data: half of what both pieces touch, and all in between. A piece
  // of the next iteration has a number beyond the last.
  double room_between(const std::vector<Piece>& pieces, std::size_t from, std::size_t to, std::size_t level) const {
    const std::vector<double>& before = pieces[from].room[level];
    const std::vector<double>& after = pieces[to % pieces.size()].room[level];
    std::vector<double> most(before.size(), 0);
    for (std::size_t m = 0; m < most.size(); ++m) most[m] = (before[m] + after[m]) / 2;
    for (std::size_t p = from + 1; p < to; ++p)
      for (std::size_t m = 0; m < most.size(); ++m)
        most[m] = std::max(most[m], pieces[p % pieces.size()].room[level][m]);
    return sum_of(most);
  }
  // Of the bytes of a tensor that one piece touches, those that another one touches, too. Tensors that share memory have no
  // common coordinates.
  double common_bytes(const Piece& now, const Piece& other, std::uint32_t tensor) const {
    double most = 0;
    for (std::uint32_t t = 0; t < other.touched.size(); ++t) {
      if (!other.touched[t] || memory_of(kernel_, t) != memory_of(kernel_, tensor)) continue;
      const double all_of_it =
          std::min(data_.bytes_of(t, *other.touched[t]), data_.bytes_of(tensor, *now.touched[tensor]));
      most = std::max(most, t != tensor ? all_of_it : common_bytes(*now.touched[t], *other.touched[t], t));
    }
    return most;
  }
  double common_bytes(Touched one, const Touched& other, std::uint32_t tensor) const {
    for (std::size_t a = 0; a < one.box.size(); ++a) {
      one.box[a] = {std::max(one.box[a].lo, other.box[a].lo), std::min(one.box[a].hi, other.box[a].hi)};
      if (one.box[a].lo > one.box[a].hi) return 0;
    }
    return data_.bytes_of(tensor, one);
  }

  const Kernel& kernel_;
  const Device& device_;
  KernelWork& work_;
  const std::vector<Statement>* phases_;
  LoopValues values_;
  const std::vector<bool> decides_;
  TouchWalk data_;
};

}  // namespace

double share_kept(double touched, double bytes) {
  if (bytes <= 0) return 0;
  return std::clamp((1.2 - touched / bytes) / 0.6, 0.0, 1.0);  // 1 up to 0.6 of its size, 0 from 1.2 on
}

void count_traffic(const Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work) {
  TrafficWalk(kernel, box, device, work).run();
}

}  // namespace tap::cost
