#include <cmath>
#include <random>

#include "analysis/leak/statistics.h"
#include "support/catch.h"

using namespace memoir;

namespace {

std::vector<TimedValue> line_of(int points, double slope) {
  std::vector<TimedValue> line;
  for (int at = 0; at < points; ++at) line.push_back({static_cast<double>(at), 100 + slope * at, 0});
  return line;
}

}  // namespace

TEST_CASE("quantiles interpolate between neighbours") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 2, 3}) == 2.5);
  CHECK(quantile_of({0, 10}, 0.98) == Approx(9.8));
  CHECK(quantile_of({5}, 0.9) == 5);
  const std::vector<double> outlier{1, 2, 3, 4, 1000};
  CHECK(robust_deviation(outlier) == Approx(1.4826));
}

TEST_CASE("Mann-Kendall's S and variance follow the definition") {
  const TrendTest up = mann_kendall(line_of(8, 1), 0);
  CHECK(up.s == 28);
  CHECK(up.variance == Approx(8.0 * 7 * 21 / 18));
  CHECK(up.z == Approx(27 / std::sqrt(8.0 * 7 * 21 / 18)));
  CHECK(mann_kendall(line_of(8, -1), 0).z == Approx(-up.z));
  CHECK(mann_kendall(line_of(8, 1), 100).z == 0);  // all pairs are ties
}

TEST_CASE("positive autocorrelation widens the variance, noise without it does not narrow it") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<TimedValue> slow;
  double value = 0;
  for (int at = 0; at < 60; ++at) slow.push_back({static_cast<double>(at), value = 0.9 * value + normal(random), 0});
  const double plain = 60.0 * 59 * 125 / 18;
  CHECK(mann_kendall(slow, 0).variance > 2 * plain);
  std::vector<TimedValue> white;
  for (int at = 0; at < 60; ++at) white.push_back({static_cast<double>(at), normal(random), 0});
  CHECK(mann_kendall(white, 0).variance >= plain * 0.999);
}

TEST_CASE("Theil-Sen finds the line within its interval despite a quarter of outliers") {
  std::vector<TimedValue> points = line_of(40, 3);
  for (std::size_t at = 0; at < points.size(); at += 4) points[at].value += 500;
  const auto estimate = theil_sen(points, mann_kendall(points, 0), 1);
  REQUIRE(estimate);
  CHECK(estimate->per_day == Approx(3).epsilon(0.05));
  CHECK(estimate->lower <= estimate->per_day);
  CHECK(estimate->upper >= estimate->per_day);
  CHECK_FALSE(theil_sen(line_of(1, 3), {}, 1));
}

TEST_CASE("strata are not compared with each other") {
  std::vector<TimedValue> points;
  for (int at = 0; at < 20; ++at) {
    points.push_back({static_cast<double>(at), at + (at % 2 == 0 ? 0.0 : 1000.0), at % 2});
  }
  CHECK(sen_slope(points) == Approx(1));
  CHECK(mann_kendall(points, 0).s == 90);  // twice the number of pairs of ten values
}

TEST_CASE("a random walk seldom drifts, a line with noise does") {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  int drifts = 0;
  for (int walk = 0; walk < 200; ++walk) {
    std::vector<double> values(1, 0.0);
    for (int at = 0; at < 30; ++at) values.push_back(values.back() + normal(random));
    drifts += drift_score(values) > 2.5 ? 1 : 0;
  }
  CHECK(drifts <= 10);
  std::vector<double> line;
  for (int at = 0; at < 30; ++at) line.push_back(at + normal(random));
  CHECK(drift_score(line) > 2.5);
  CHECK(drift_score(std::vector<double>{1, 1, 1, 1}) == 0);
  CHECK(drift_score(std::vector<double>{1, 2}) == 0);
}

TEST_CASE("least squares fit a line exactly") {
  const std::vector<double> x{0, 1, 2, 3};
  CHECK(residual_squares(x, std::vector<double>{5, 7, 9, 11}) == Approx(0).margin(1e-9));
  CHECK(residual_squares(x, std::vector<double>{0, 1, 1, 0}) == Approx(1));
}
