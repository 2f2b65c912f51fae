/// The first so many records of an order by a slot: a heap whose top is the last of them.
struct TopSlots {
  private struct Element {
    /// 1, or for null whether it comes before or behind that.
    var rank: UInt8
    var word: UInt64
    /// The id, or its inverse.
    var tie: UInt64
    var record: SortedRecord

    @inline(__always)
    func precedes(_ other: Element) -> Bool {
      if rank != other.rank { return rank < other.rank }
      if word != other.word { return word < other.word }
      return tie < other.tie
    }
  }

  private let capacity: Int
  private let nullRank: UInt8
  private let tieMask: UInt64
  private var heap: [Element] = []
  /// The top of a full heap.
  private var last: Element?

  init(capacity: Int, _ order: SlotOrder) {
    self.capacity = capacity
    nullRank = order.isNullFirst ? 0 : 2
    tieMask = order.isTieDescending ? .max : 0
  }

  @inline(__always)
  mutating func insert(_ word: UInt64?, _ record: SortedRecord) {
    let element = Element(
      rank: word == nil ? nullRank : 1, word: word ?? 0, tie: record.id ^ tieMask, record: record)
    if let last, !element.precedes(last) { return }
    keep(element)
  }

  @inline(never)
  private mutating func keep(_ element: Element) {
    guard capacity > 0 else { return }
    if heap.count == capacity {
      heap[0] = element
      siftDown()
    } else {
      heap.append(element)
      siftUp()
    }
    if heap.count == capacity { last = heap[0] }
  }

  private mutating func siftUp() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[parent].precedes(heap[child]) else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var last = parent
      let child = parent * 2 + 1
      if child < heap.count, heap[last].precedes(heap[child]) { last = child }
      if child + 1 < heap.count, heap[last].precedes(heap[child + 1]) { last = child + 1 }
      if last == parent { return }
      heap.swapAt(parent, last)
      parent = last
    }
  }

  func sorted() -> [SortedRecord] { heap.sorted { $0.precedes($1) }.map(\.record) }
}
