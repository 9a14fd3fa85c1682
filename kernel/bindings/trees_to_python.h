// Conversion of trees for Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../trees.h"
#include "arrays.h"

namespace particletree {

// Nodes as rows of bytes, which Python views as records.
inline nb::object to_numpy_bytes(std::vector<Node>&& nodes) {
  auto owned = std::make_unique<std::vector<Node>>(std::move(nodes));
  const std::size_t n_nodes = owned->size();
  auto* pointer = reinterpret_cast<std::uint8_t*>(owned->data());
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<Node>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(pointer, {n_nodes, sizeof(Node)}, owner));
}

// The arrays of the trees of an island or a chain, by name.
inline nb::dict to_dict(Trees&& trees) {
  nb::dict result;
  const std::size_t n_blocks = trees.row_hashes.size();
  const std::size_t n_statistics = trees.statistics.size() / n_blocks;
  result["nodes"] = to_numpy_bytes(std::move(trees.nodes));
  result["roots"] = to_numpy(std::move(trees.roots));
  result["statistics"] = to_numpy(std::move(trees.statistics), {n_blocks, n_statistics});
  result["row_hashes"] = to_numpy(std::move(trees.row_hashes));
  result["weights"] = to_numpy(std::move(trees.weights));
  result["log_likelihoods"] = to_numpy(std::move(trees.log_likelihoods));
  result["log_priors"] = to_numpy(std::move(trees.log_priors));
  return result;
}

}  // namespace particletree
