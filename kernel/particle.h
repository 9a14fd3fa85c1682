// Particles: small persistent records of decisions, with equal particles stored once.
//
// A particle is a link to its last split and a queue of blocks that it has still to consider. Splits form a linked list
// towards the root that copies of the particle share; a stopped block has no record, it is a block that no split
// divides. Particles that have made the same decisions are one lineage with a number of copies, so that stopping and
// resampling cost nothing per copy.
//
// There is no reference counting: records that no lineage reaches are freed from time to time, by mark and sweep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "block.h"
#include "rule.h"

namespace particletree {

using RecordId = std::uint32_t;
inline constexpr RecordId no_record = std::numeric_limits<RecordId>::max();

// One split of one particle's tree.
struct Record {
  RecordId previous;
  BlockId left;  // child; the right one has the next number
  Rule rule;
  double log_prior;  // the log density of the split (tree_prior.h)
};

class RecordStore {
 public:
  const Record& operator[](RecordId id) const { return records_[id]; }
  std::size_t size() const { return records_.size() - free_.size(); }
  std::size_t capacity() const { return records_.size(); }  // record numbers are below it

  RecordId add(const Record& record) {
    if (free_.empty()) {
      records_.push_back(record);
      return static_cast<RecordId>(records_.size() - 1);
    }
    const RecordId id = free_.back();
    free_.pop_back();
    records_[id] = record;
    return id;
  }

  // Calls visit(record's number) for a record and those before it.
  template <class Visit>
  void for_each_before(RecordId id, Visit visit) const {
    for (; id != no_record; id = records_[id].previous) visit(id);
  }

  // Whether two lineages have made the same splits, which they then made in the same order.
  bool are_equal(RecordId a, RecordId b) const {
    for (; a != b; a = records_[a].previous, b = records_[b].previous) {
      if (a == no_record || b == no_record) return false;
      if (records_[a].left != records_[b].left || !(records_[a].rule == records_[b].rule)) return false;
    }
    return true;
  }

  // Marks a record and those before it, and calls visit(record) for each that was not marked.
  template <class Visit>
  void hold(RecordId id, Visit visit) {
    is_held_.resize(records_.size(), 0);
    for (; id != no_record && !is_held_[id]; id = records_[id].previous) {
      is_held_[id] = 1;
      visit(records_[id]);
    }
  }

  // Frees the records that are not marked, and clears the marks.
  void keep_only_held() {
    is_held_.resize(records_.size(), 0);
    free_.clear();
    for (RecordId id = 0; id < records_.size(); ++id) {
      if (!is_held_[id]) free_.push_back(id);
    }
    is_held_.assign(records_.size(), 0);
  }

 private:
  std::vector<Record> records_;
  std::vector<RecordId> free_;
  std::vector<std::uint8_t> is_held_;
};

enum class Expansion { node, layer };
enum class Priority { oldest, likelihood };

// The range of a lineage's blocks to consider in the memory of all queues.
struct Queue {
  std::size_t first = 0;
  std::uint32_t size = 0;
};

// The queues of all lineages: first in, first out, or lowest marginal first (ties: the oldest). Taking from a queue
// shortens it in place; a queue is copied only when a lineage divides.
template <class Store>
class Queues {
 public:
  Queues(Priority priority, const Store& blocks) : priority_(priority), blocks_(blocks) {}

  std::span<const BlockId> operator[](const Queue& queue) const { return {memory_.data() + queue.first, queue.size}; }

  // A copy of a queue, at the end of the memory, where it can grow.
  Queue copy(const Queue& other) {
    const Queue queue{memory_.size(), other.size};
    memory_.resize(memory_.size() + queue.size);
    std::copy_n(begin(other), queue.size, begin(queue));
    return queue;
  }

  // Appends a block to the queue that is last in memory.
  void push(Queue& queue, BlockId id) {
    memory_.push_back(id);
    ++queue.size;
    if (priority_ == Priority::likelihood) std::push_heap(begin(queue), end(queue), comes_later());
  }

  // Takes the first blocks out of a queue: one, or all.
  void take(Queue& queue, std::uint32_t n) {
    if (priority_ == Priority::oldest || n == queue.size) {
      queue.first += n;
      queue.size -= n;
    } else {
      std::pop_heap(begin(queue), end(queue), comes_later());
      --queue.size;
    }
  }

  // Compacts the memory when most of it no longer belongs to any queue.
  template <class Lineages>
  void tidy(Lineages& lineages) {
    std::size_t n_used = 0;
    for (const auto& lineage : lineages) n_used += lineage.queue.size;
    if (memory_.size() < 4 * n_used + smallest_memory) return;
    std::vector<BlockId> moved;
    moved.reserve(4 * n_used + 2 * smallest_memory);  // so that it does not grow before the next compaction
    for (auto& lineage : lineages) {
      const auto blocks = (*this)[lineage.queue];
      lineage.queue.first = moved.size();
      moved.insert(moved.end(), blocks.begin(), blocks.end());
    }
    memory_ = std::move(moved);
  }

 private:
  static constexpr std::size_t smallest_memory = 1 << 14;

  auto begin(const Queue& queue) { return memory_.begin() + static_cast<std::ptrdiff_t>(queue.first); }
  auto end(const Queue& queue) { return begin(queue) + queue.size; }

  auto comes_later() const {
    return [this](BlockId a, BlockId b) {
      const Block &x = blocks_[a], &y = blocks_[b];
      return x.log_marginal != y.log_marginal ? x.log_marginal > y.log_marginal : x.age > y.age;
    };
  }

  Priority priority_;
  const Store& blocks_;
  std::vector<BlockId> memory_;
};

// Equal particles: the same tree, the same blocks to consider, the same weight.
struct Lineage {
  RecordId last_split = no_record;
  Queue queue;
  std::uint32_t copies = 0;
  double log_weight = 0.0;
  std::uint32_t ancestor = 0;  // index of its ancestor among the lineages after the last resampling (genealogy.h)
};

}  // namespace particletree
