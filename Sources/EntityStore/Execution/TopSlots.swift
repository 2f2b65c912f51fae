/// The first records in an order by a slot, at most `capacity` of them.
///
/// A heap keeps the records; its first element is the record that comes last in the order.
struct TopSlots {
  private struct Element {
    /// The rank, which is compared first: 1 for a value; 0 for null if null comes first, otherwise
    /// 2.
    var rank: UInt8
    var word: UInt64
    /// The record's id, or its inverse if ids descend.
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
  private var heap = Heap<Element>()
  /// The first element of a full heap.
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
      heap.replaceFirst(with: element) { $1.precedes($0) }
    } else {
      heap.insert(element) { $1.precedes($0) }
    }
    if heap.count == capacity { last = heap.first }
  }

  func sorted() -> [SortedRecord] {
    assert(heap.isOrdered { $1.precedes($0) })
    return heap.elements.sorted { $0.precedes($1) }.map(\.record)
  }
}
