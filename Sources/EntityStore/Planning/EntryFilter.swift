internal import LodestoreBytes
internal import LodestoreFormat

/// The part of a condition that index entries can decide.
///
/// A record whose entry fails is not read.
final class EntryFilter: Sendable {
  /// The conditions that are checked, by their positions in the conjunction.
  let clauses: Set<Int>
  /// The conditions at ``clauses``, for records whose entries cannot decide.
  let condition: BoundCondition
  private let tests: [EntryTest]
  /// The number of key elements that the tests need.
  private let elementCount: Int

  /// Creates the filter; `nil` if entries of `index` decide nothing beyond the clauses `proven`.
  init?(_ index: StoredIndex, _ conjuncts: [BoundCondition], proven: Set<Int>) {
    var clauses: Set<Int> = []
    var tests: [EntryTest] = []
    for (position, conjunct) in conjuncts.enumerated() where !conjunct.isAlways {
      guard !proven.contains(position),
        let test = EntryTest(conjunct, index.description.attributes)
      else { continue }
      clauses.insert(position)
      tests.append(test)
    }
    guard !tests.isEmpty else { return nil }
    self.clauses = clauses
    self.tests = tests
    condition = .all(clauses.sorted().map { conjuncts[$0] })
    elementCount = tests.map(\.elementCount).max() ?? 0
  }

  /// Returns whether the record `id` of the entry with this key passes, or `nil` if only the record
  /// can decide.
  ///
  /// - Parameter key: the key of the entry, empty if it is cut.
  func admits(_ key: ByteView, id: UInt64) -> Bool? {
    guard !key.isEmpty else { return nil }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: elementCount + 1) { ends in
      ends[0] = 0
      for position in 0..<elementCount {
        guard let end = KeyDecoder.endOfElement(in: key, at: ends[position]) else { return nil }
        ends[position + 1] = end
      }
      var answer: Bool? = true
      for test in tests {
        guard let next = test.admits(key, UnsafeBufferPointer(ends), id) else {
          answer = nil
          continue
        }
        if !next { return false }
      }
      return answer
    }
  }
}

/// A condition on the elements of an index key and the record's id.
private indirect enum EntryTest: Sendable {
  case all([EntryTest])
  case any([EntryTest])
  case not(EntryTest)
  case recordID(LayoutProgram.NumberTest)
  /// An element between two bounds.
  case range(Int, IndexRange)
  case elements(Int, KeySet)
  /// A number, of an attribute of the given type, that is in a list.
  case numbers(Int, NumberSet, AttributeType, admitsNull: Bool)
  case text(Int, TextTest)
  /// The type code and first bytes of a text's element.
  ///
  /// The bytes are ASCII without a carriage return, which forms one character with a following line
  /// feed.
  case beginning(Int, [UInt8])

  /// Creates the test; `nil` if keys of `attributes` cannot decide the condition.
  init?(_ condition: BoundCondition, _ attributes: [UInt32]) {
    switch condition {
    case .all(let parts):
      guard let tests = Self.tests(parts, attributes) else { return nil }
      self = .all(tests)
    case .any(let parts):
      guard let tests = Self.tests(parts, attributes) else { return nil }
      self = .any(tests)
    case .not(let part):
      guard let test = EntryTest(part, attributes) else { return nil }
      self = .not(test)
    case .test(let test):
      if test.attribute.isRecordID {
        guard let test = LayoutProgram.NumberTest(test) else { return nil }
        self = .recordID(test)
        return
      }
      guard let position = attributes.firstIndex(of: test.attribute.number) else { return nil }
      self.init(test, condition, at: position)
    case .constant, .expression, .closure, .related, .search, .proximity: return nil
    }
  }

  private static func tests(_ parts: [BoundCondition], _ attributes: [UInt32]) -> [EntryTest]? {
    var tests: [EntryTest] = []
    for part in parts {
      guard let test = EntryTest(part, attributes) else { return nil }
      tests.append(test)
    }
    return tests
  }

  private init?(_ test: AttributeTest, _ condition: BoundCondition, at position: Int) {
    switch test.kind {
    case .keys(let set) where !test.admitsNull:
      self = .elements(position, set)
      return
    case .numbers(let set):
      self = .numbers(position, set, test.attribute.type, admitsNull: test.admitsNull)
      return
    default: break
    }
    if let constraint = IndexConstraint(condition, on: test.attribute.number), constraint.isExact {
      switch constraint.extent {
      case .points(let keys): self = .elements(position, KeySet(keys: keys))
      case .range(let range): self = .range(position, range)
      case .ranges(let ranges): self = .any(ranges.map { .range(position, $0) })
      }
      return
    }
    // Regular expressions and texts with [n] depend on the record's own characters or bytes. A key
    // holds the normal form, which can be ASCII for other text, as for the kelvin sign.
    guard case .text(let compiled, let `operator`, let operand, let options) = test.kind,
      `operator` != .matches, !options.contains(.normalized)
    else { return nil }
    let isPlain = operand.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0d }
    if `operator` == .beginsWith, options.isEmpty, isPlain {
      self = .beginning(position, IndexConstraint.beginning(operand))
    } else {
      self = .text(position, compiled)
    }
  }

  /// The number of leading elements of a key that the test needs.
  var elementCount: Int {
    switch self {
    case .all(let tests), .any(let tests): tests.map(\.elementCount).max() ?? 0
    case .not(let test): test.elementCount
    case .recordID: 0
    case .beginning(let position, _): position
    case .range(let position, _), .elements(let position, _), .text(let position, _),
      .numbers(let position, _, _, _):
      position + 1
    }
  }

  /// Returns whether an entry passes, or `nil` if it cannot decide.
  func admits(_ key: ByteView, _ ends: UnsafeBufferPointer<Int>, _ id: UInt64) -> Bool? {
    switch self {
    case .all(let tests):
      var answer: Bool? = true
      for test in tests {
        let next = test.admits(key, ends, id)
        if next == false { return false }
        if next == nil { answer = nil }
      }
      return answer
    case .any(let tests):
      var answer: Bool? = false
      for test in tests {
        let next = test.admits(key, ends, id)
        if next == true { return true }
        if next == nil { answer = nil }
      }
      return answer
    case .not(let test): return test.admits(key, ends, id).map(!)
    case .recordID(let test): return test.admits(OrderedNumber.key(id))
    case .range(let position, let range): return range.admits(Self.element(position, key, ends))
    case .elements(let position, let set):
      return set.table.contains(Self.element(position, key, ends))
    case .numbers(let position, let set, let type, let admitsNull):
      let element = Self.element(position, key, ends)
      if element.count == 1, element[0] == 0 { return admitsNull }
      var decoder = KeyDecoder(element)
      guard let value = try? decoder.next(),
        let equal = NumberInterval(.equal, value, type), !equal.isEmpty
      else { return nil }
      return set.contains(equal.high)
    case .beginning(let position, let bytes):
      let rest = key[ends[position]...]
      guard rest.count > bytes.count, rest.starts(with: bytes) else { return false }
      // A byte that is not ASCII may begin a combining mark, which would change the last character.
      // Only the record can then decide.
      return rest[bytes.count] < 0x80 ? true : nil
    case .text(let position, let test):
      let element = Self.element(position, key, ends)
      // The element is null, which passes no text test.
      if element.count == 1 { return false }
      // The text is without the type code and the zero at the end.
      let text = element.dropFirst().dropLast()
      // The key holds text beyond ASCII in normalized form, and zeros escaped, so only the record
      // can decide.
      guard text.allSatisfy({ $0 != 0 && $0 < 0x80 }) else { return nil }
      return test.admits(text)
    }
  }

  private static func element(
    _ position: Int, _ key: ByteView, _ ends: UnsafeBufferPointer<Int>
  ) -> ByteView {
    key[ends[position]..<ends[position + 1]]
  }
}
