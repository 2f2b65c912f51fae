package import LodestoreFormat

/// Encoded records on their way into an entity, in the order in which they came.
package struct RecordBatch: Sendable {
  /// Contents, each followed by room for its checksum.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// A bit an attribute of the layout, `wordCount` words a record; empty while every record was
  /// given all of them.
  private var given: [UInt64] = []
  private let wordCount: Int
  /// The layout that the records are in.
  package let layout: RecordLayout

  package init(_ layout: RecordLayout) {
    self.layout = layout
    wordCount = (layout.attributes.count + 63) / 64
  }

  package var count: Int { ends.count }
  package var isEmpty: Bool { ends.isEmpty }
  package var byteCount: Int { bytes.count }

  /// Adds a record that was given values for all its attributes.
  package mutating func append(_ content: UnsafeRawBufferPointer) {
    if !given.isEmpty { given.append(contentsOf: repeatElement(.max, count: wordCount)) }
    add(content)
  }

  /// Adds a record that was given values for the attributes at the places for which `isGiven` is true.
  package mutating func append(_ content: UnsafeRawBufferPointer, given isGiven: [Bool]) {
    if isGiven.allSatisfy({ $0 }) { return append(content) }
    if given.isEmpty { given = Array(repeating: .max, count: wordCount * count) }
    var words = [UInt64](repeating: 0, count: wordCount)
    for (place, flag) in isGiven.enumerated() where flag {
      words[place / 64] |= 1 << UInt64(place % 64)
    }
    given.append(contentsOf: words)
    add(content)
  }

  /// Adds all records of `other`, which are of the same layout.
  package mutating func append(_ other: RecordBatch) {
    let start = bytes.count
    if !given.isEmpty || !other.given.isEmpty {
      if given.isEmpty { given = Array(repeating: .max, count: wordCount * count) }
      given.append(
        contentsOf: other.given.isEmpty
          ? Array(repeating: .max, count: wordCount * other.count) : other.given)
    }
    bytes.append(contentsOf: other.bytes)
    ends.append(contentsOf: other.ends.lazy.map { $0 + start })
  }

  /// Takes the records behind the first `count` away.
  package mutating func truncate(to count: Int) {
    guard count < ends.count else { return }
    ends.removeSubrange(count...)
    bytes.removeSubrange((ends.last ?? 0)...)
    if !given.isEmpty { given.removeSubrange((count * wordCount)...) }
  }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    given.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ content: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: content)
    bytes.append(contentsOf: repeatElement(0, count: RecordLayout.checksumSize))
    ends.append(bytes.count)
  }

  /// Calls `body` with the record at `place`, which has zeros for its checksum.
  func withRecord<R>(
    _ place: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let range = (place == 0 ? 0 : ends[place - 1])..<ends[place]
    return try bytes.withBytes { (all) throws(StoreError) in
      try body(UnsafeRawBufferPointer(rebasing: all[range]))
    }
  }

  /// Whether the attribute at place `attribute` of the layout was given to the record at `place`.
  func isGiven(_ attribute: Int, at place: Int) -> Bool {
    given.isEmpty
      || given[place * wordCount + attribute / 64] >> UInt64(attribute % 64) & 1 == 1
  }

  /// Whether every attribute was given to the record at `place`.
  func isWhole(_ place: Int) -> Bool {
    given.isEmpty || layout.attributes.indices.allSatisfy { isGiven($0, at: place) }
  }
}
