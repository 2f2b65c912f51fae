/// The ids of the records that an insert stored or found, in the order of its values.
///
/// Consecutive ids of new records take constant memory. When records were found, each id takes
/// eight bytes.
///
/// - Complexity: every access is O(1).
public struct RecordIDs<E: Entity>: RandomAccessCollection, Sendable, Hashable {
  var list: IDList

  /// An id of the entity.
  @_documentation(visibility: internal)
  public typealias Element = RecordID<E>

  /// Always 0.
  @_documentation(visibility: internal)
  public var startIndex: Int { 0 }
  /// The number of ids.
  @_documentation(visibility: internal)
  public var endIndex: Int { list.count }

  /// The id of the value at `position`.
  public subscript(position: Int) -> RecordID<E> { RecordID(rawValue: list[position]) }
}

extension RecordIDs: CustomStringConvertible {
  /// The ids in the form of an array; only the first and last ones when there are more than ten.
  public var description: String {
    guard count > 10 else { return "[\(map(\.description).joined(separator: ", "))]" }
    return "[\(self[0]), \(self[1]), …, \(self[count - 1])]"
  }
}

extension RecordIDs: ExpressibleByArrayLiteral {
  /// Creates a list of these ids.
  @_documentation(visibility: internal)
  public init(arrayLiteral elements: RecordID<E>...) {
    list = IDList()
    for id in elements { list.append(id.rawValue) }
  }
}

/// A list of ids in any order: a range while they are consecutive, otherwise an array.
struct IDList: Sendable {
  /// All ids, while they are consecutive.
  private var run: Range<UInt64> = 0..<0
  /// All ids, when they are not consecutive.
  private var all: [UInt64] = []

  var count: Int { all.isEmpty ? run.count : all.count }

  subscript(position: Int) -> UInt64 {
    if !all.isEmpty { return all[position] }
    precondition(position >= 0 && position < run.count, "there is no id at \(position)")
    return run.lowerBound + UInt64(position)
  }

  mutating func append(_ id: UInt64) {
    guard id < .max else {
      // The highest id cannot be in a half-open range, so the ids are stored in the array.
      if all.isEmpty { all = Array(run) }
      all.append(id)
      return
    }
    append(contentsOf: id..<id + 1)
  }

  mutating func append(contentsOf ids: Range<UInt64>) {
    guard all.isEmpty, run.isEmpty || ids.lowerBound == run.upperBound else {
      if all.isEmpty { all = Array(run) }
      all.append(contentsOf: ids)
      return
    }
    run = (run.isEmpty ? ids.lowerBound : run.lowerBound)..<ids.upperBound
  }

  mutating func append(_ other: IDList) {
    if other.all.isEmpty {
      append(contentsOf: other.run)
    } else {
      if all.isEmpty { all = Array(run) }
      all.append(contentsOf: other.all)
    }
  }
}

extension IDList: Hashable {
  static func == (a: IDList, b: IDList) -> Bool {
    a.count == b.count && (0..<a.count).allSatisfy { a[$0] == b[$0] }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for position in 0..<count { hasher.combine(self[position]) }
  }
}
