// What peer_copies concludes from made matrices of pairs.
#include "findings.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

using PairValue = std::function<double(std::size_t from, std::size_t to)>;

std::vector<CurvePoint> matrix(std::size_t devices, const PairValue& value) {
  std::vector<CurvePoint> pairs;
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      pairs.push_back({.x = static_cast<double>(from * devices + to), .y = value(from, to)});
    }
  }
  return pairs;
}

double even_links(std::size_t from, std::size_t to) { return from == to ? 2000 : 400; }

TEST(PeerCopiesTest, ADevicesOwnMemoryIsNoLink) {
  MadeResults made("peer_copies");
  made.curve("engine", "bandwidth", matrix(4, even_links));
  made.curve("latency", "load", matrix(4, [](std::size_t from, std::size_t to) {
               return from == to ? 330.0 : 850.0;
             }));
  peer_copies::conclude(made.results());
  EXPECT_EQ(made.inference("link bandwidth").value, 400);
  EXPECT_EQ(made.inference("load of another device's memory").value, 850);
  EXPECT_EQ(made.inference("slow links").value, 0);
  EXPECT_GT(made.inference("slow links").confidence, 0.9);
}

TEST(PeerCopiesTest, ASlowLinkIsNamed) {
  MadeResults made("peer_copies");
  made.curve("engine", "bandwidth", matrix(8, [](std::size_t from, std::size_t to) {
               return from == 3 && to == 5 ? 300.0 : even_links(from, to);
             }));
  peer_copies::conclude(made.results());
  EXPECT_EQ(made.inference("slow links").value, 1);
  EXPECT_EQ(made.inference("slow links").evidence.at(0), "3 -> 5: 300 GB/s of 400");
}

TEST(PeerCopiesTest, LinksOfSeveralKindsAreNotCalledSlow) {
  MadeResults made("peer_copies");
  // A ring, in which half of the pairs have two links to go through.
  made.curve("engine", "bandwidth", matrix(4, [](std::size_t from, std::size_t to) {
               return (from + 2) % 4 == to ? 50.0 : even_links(from, to);
             }));
  peer_copies::conclude(made.results());
  EXPECT_FALSE(made.inference("slow links").value.has_value());
}

TEST(PeerCopiesTest, OneDeviceHasNoLinks) {
  MadeResults made("peer_copies");
  made.curve("engine", "bandwidth", matrix(1, even_links));
  made.curve("latency", "load", matrix(1, even_links));
  peer_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(PeerCopiesTest, PairsThatAreLeftOutMakeNoMatrix) {
  MadeResults made("peer_copies");
  auto pairs = matrix(3, even_links);
  pairs.pop_back();
  made.curve("engine", "bandwidth", pairs);
  peer_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(PeerCopiesTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("peer_copies", peer_copies::conclude);
}

}  // namespace
}  // namespace hipscope
