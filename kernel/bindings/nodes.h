// Nodes from Python: records as rows of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../node.h"
#include "arrays.h"

namespace particletree {

using NodeBytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::span<const Node> view_nodes(const NodeBytes& bytes) {
  require(bytes.shape(1) == sizeof(Node), "a node has another number of bytes");
  require(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Node) == 0, "the nodes are not aligned");
  require(bytes.shape(0) < (std::size_t{1} << 31), "there are too many nodes for 32 bits");
  return {reinterpret_cast<const Node*>(bytes.data()), bytes.shape(0)};
}

}  // namespace particletree
