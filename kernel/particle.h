// Particles: small persistent records of decisions.
//
// A particle is a link to its last split and a queue of blocks that it has still to consider. Splits form a chain
// towards the root that copies of the particle share; a stopped block leaves no record, it is a block that no split
// names. So copying a particle copies no tree and no rows, and two particles that share their last split and have
// nothing left to consider are the same tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "block.h"
#include "stable_vector.h"

namespace particletree {

using RecordId = std::uint32_t;
inline constexpr RecordId no_record = std::numeric_limits<RecordId>::max();

// One split of one particle's tree.
struct Record {
  RecordId previous;
  BlockId block;
  std::uint32_t feature;
  double threshold;
  double log_prior;  // of the split: log of s / (number of varying features * range)
  Children children;
  std::uint32_t n_holders;  // particles and later records that link to it
};

// The records of all particles; a record that nobody links to is freed with the blocks that only it made.
template <class Store>
class RecordStore {
 public:
  explicit RecordStore(Store& blocks) : blocks_(blocks) {}

  const Record& operator[](RecordId id) const { return records_[id]; }

  RecordId add(const Record& record) {  // takes over the caller's hold on record.previous
    ++blocks_[record.children.left].n_records;
    ++blocks_[record.children.right].n_records;
    if (free_.empty()) {
      records_.push_back(record);
      return static_cast<RecordId>(records_.size() - 1);
    }
    const RecordId id = free_.back();
    free_.pop_back();
    records_[id] = record;
    return id;
  }

  void hold(RecordId id, std::uint32_t n_more) {
    if (id != no_record) records_[id].n_holders += n_more;
  }

  void release(RecordId id) {
    while (id != no_record && --records_[id].n_holders == 0) {
      blocks_.release(records_[id].block, records_[id].children);
      free_.push_back(id);
      id = records_[id].previous;
    }
  }

 private:
  Store& blocks_;
  StableVector<Record> records_;
  std::vector<RecordId> free_;
};

enum class Expansion { node, layer };
enum class Priority { oldest, likelihood };

// The blocks that a particle has still to consider: first in, first out, or lowest marginal first (ties: the oldest).
class Queue {
 public:
  bool empty() const { return first_ == blocks_.size(); }

  template <class Store>
  void push(BlockId id, Priority priority, const Store& store) {
    blocks_.push_back(id);
    if (priority == Priority::likelihood) std::push_heap(blocks_.begin(), blocks_.end(), comes_later(store));
  }

  template <class Store>
  BlockId pop(Priority priority, const Store& store) {
    if (priority == Priority::oldest) return blocks_[first_++];
    std::pop_heap(blocks_.begin(), blocks_.end(), comes_later(store));
    const BlockId id = blocks_.back();
    blocks_.pop_back();
    return id;
  }

  void copy_from(const Queue& other) {  // without what was popped
    blocks_.assign(other.begin(), other.end());
    first_ = 0;
  }

  void clear() {
    blocks_.clear();
    first_ = 0;
  }

  std::vector<BlockId>::const_iterator begin() const { return blocks_.begin() + static_cast<std::ptrdiff_t>(first_); }
  std::vector<BlockId>::const_iterator end() const { return blocks_.end(); }

 private:
  template <class Store>
  static auto comes_later(const Store& store) {
    return [&store](BlockId a, BlockId b) {
      const Block &x = store[a], &y = store[b];
      return x.log_marginal != y.log_marginal ? x.log_marginal > y.log_marginal : x.age > y.age;
    };
  }

  std::vector<BlockId> blocks_;
  std::size_t first_ = 0;
};

struct Particle {
  RecordId last_split = no_record;
  Queue queue;
};

}  // namespace particletree
