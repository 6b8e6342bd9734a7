#include "inference_rising.h"

#include <numeric>
#include <utility>

#include "hipscope/statistics.h"

namespace hipscope {

namespace {

double middle_of(const std::vector<double>& ys, Middle middle) {
  return middle == Middle::median
             ? summarize(ys).median
             : std::accumulate(ys.begin(), ys.end(), 0.0) / static_cast<double>(ys.size());
}

}  // namespace

std::vector<double> never_falling(std::span<const CurvePoint> curve, Middle middle) {
  struct Pool {
    std::vector<double> ys;
    double y;
  };
  std::vector<Pool> pools;
  for (const CurvePoint& point : curve) {
    pools.push_back({{point.y}, point.y});
    while (pools.size() > 1 && pools[pools.size() - 2].y >= pools.back().y) {
      const Pool last = std::move(pools.back());
      pools.pop_back();
      Pool& pool = pools.back();
      pool.ys.insert(pool.ys.end(), last.ys.begin(), last.ys.end());
      pool.y = middle_of(pool.ys, middle);
    }
  }
  std::vector<double> rising;
  for (const Pool& pool : pools) {
    rising.insert(rising.end(), pool.ys.size(), pool.y);
  }
  return rising;
}

}  // namespace hipscope
