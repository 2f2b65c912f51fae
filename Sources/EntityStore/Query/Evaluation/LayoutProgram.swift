internal import LodestoreFormat

/// A condition with the places of one record layout filled in.
struct LayoutProgram {
  indirect enum Step {
    case constant(Bool)
    case all([Step])
    case any([Step])
    case not(Step)
    case slot(SlotTest)
    case recordID(NumberTest)
    case isNull(RecordLayout.Slot)
    case numbers(RecordLayout.Slot, NumberSet, admitsNull: Bool)
    case text(RecordLayout.Slot, TextTest)
    case key(RecordLayout.Slot, KeyInterval)
    case keys(RecordLayout.Slot, KeyTable, admitsNull: Bool)
    case expression(BoundComparison)
    case closure(ConditionClosure)
  }

  /// A test of a number that is in no slot.
  enum NumberTest {
    case interval(NumberInterval)
    case set(NumberSet)

    func admits(_ key: Int64) -> Bool {
      switch self {
      case .interval(let interval): key >= interval.low && key <= interval.high
      case .set(let set): set.contains(key)
      }
    }
  }

  let layout: RecordLayout
  /// Tests of slots that every record must pass; first, as they are the cheapest.
  let slots: ContiguousArray<SlotTest>
  /// Tests of texts that every record must pass; next.
  let texts: ContiguousArray<VariableTest>
  /// What ``texts`` refer to.
  private let steadyTests: [SteadyTextTest]
  /// What must be true besides, in the order of the author.
  let rest: [Step]
  /// The fewest bytes of a record whose slots may be read.
  let shortestRecord: Int

  /// Where the ends of variable attributes are, and the bytes they bound when these are narrow.
  private let endsOffset: Int
  private let heapOffset: Int
  private let layoutNumber: UInt16

  init(_ condition: BoundCondition, layout: RecordLayout) {
    self.layout = layout
    shortestRecord =
      layout.endsOffset + layout.variableCount * 2 + RecordLayout.checksumSize
    layoutNumber = layout.number
    endsOffset = layout.endsOffset
    heapOffset = layout.endsOffset + layout.variableCount * 2
    var slots: ContiguousArray<SlotTest> = []
    var texts: ContiguousArray<VariableTest> = []
    var steadyTests: [SteadyTextTest] = []
    var rest: [Step] = []
    let parts =
      if case .all(let parts) = condition { parts } else { [condition] }
    // These move to the front, past closures too: a closure that would have failed on a record is
    // not asked about one that another part excludes.
    for part in parts {
      let step = Self.step(part, layout)
      switch step {
      case .slot(let test): slots.append(test)
      case .text(let place, let test):
        let steady = SteadyTextTest(test)
        steadyTests.append(steady)
        texts.append(VariableTest(place, steady, isNegated: false))
      case .not(.text(let place, let test)):
        let steady = SteadyTextTest(test)
        steadyTests.append(steady)
        texts.append(VariableTest(place, steady, isNegated: true))
      case .constant(true): break
      default: rest.append(step)
      }
    }
    self.slots = slots
    self.texts = texts
    self.steadyTests = steadyTests
    self.rest = rest
  }

  /// Whether a record of this layout passes the tests of slots and texts; `nil` when it is of another,
  /// has wide offsets, or breaks the format.
  @inline(__always)
  func admits(_ bytes: UnsafeRawBufferPointer) -> Bool? {
    guard let base = bytes.baseAddress, bytes.count >= shortestRecord,
      bytes.uint16(at: 0) == layoutNumber
    else { return nil }
    for test in slots {
      if !test.admits(base) { return false }
    }
    for test in texts {
      guard let answer = test.admits(bytes, endsOffset: endsOffset, heapOffset: heapOffset) else {
        return nil
      }
      if !answer { return false }
    }
    return true
  }

  static func step(_ condition: BoundCondition, _ layout: RecordLayout) -> Step {
    switch condition {
    case .constant(let flag): .constant(flag)
    case .all(let parts): .all(parts.map { step($0, layout) })
    case .any(let parts): .any(parts.map { step($0, layout) })
    case .not(.test(let test)): self.test(test, layout, isNegated: true)
    case .not(let part): .not(step(part, layout))
    case .test(let test): self.test(test, layout, isNegated: false)
    case .expression(let comparison): .expression(comparison)
    case .closure(let closure): .closure(closure)
    }
  }

  private static func test(
    _ test: AttributeTest, _ layout: RecordLayout, isNegated: Bool
  ) -> Step {
    func wrapped(_ step: Step) -> Step { isNegated ? .not(step) : step }
    if test.attribute.isRecordID { return wrapped(recordID(test)) }
    guard let index = layout.slotIndex(ofAttribute: test.attribute.number) else {
      return .constant(test.admits(test.attribute.initial) != isNegated)
    }
    let place = layout.slots[index]
    switch test.kind {
    case .null: return wrapped(.isNull(place))
    case .interval(let interval):
      return SlotTest(place, interval, isNegated: isNegated).map(Step.slot) ?? .constant(isNegated)
    case .numbers(let set): return wrapped(.numbers(place, set, admitsNull: test.admitsNull))
    case .text(let test, _, _, _): return wrapped(.text(place, test))
    case .key(let interval): return wrapped(.key(place, interval))
    case .keys(let set):
      return wrapped(.keys(place, set.table, admitsNull: test.admitsNull))
    }
  }

  private static func recordID(_ test: AttributeTest) -> Step {
    switch test.kind {
    case .interval(let interval): .recordID(.interval(interval))
    case .numbers(let set): .recordID(.set(set))
    default: .constant(false)
    }
  }
}

extension AttributeTest {
  /// Whether `value`, which no record need hold, passes.
  func admits(_ value: Value) -> Bool {
    if value == .null {
      if case .null = kind { return true }
      return admitsNull
    }
    switch kind {
    case .null: return false
    case .interval(let interval):
      guard let equal = NumberInterval(.equal, value, attribute.type) else { return false }
      return !equal.isEmpty && equal.low >= interval.low && equal.low <= interval.high
    case .numbers(let set):
      guard let equal = NumberInterval(.equal, value, attribute.type) else { return false }
      return !equal.isEmpty && set.contains(equal.high)
    case .text(let test, _, _, _):
      guard case .string(var text) = value else { return false }
      return text.withUTF8 { test.admits(UnsafeRawBufferPointer($0)) }
    case .key(let interval): return withElement(of: value) { interval.admits($0) }
    case .keys(let set):
      let table = set.table
      return withElement(of: value) { table.contains($0) }
    }
  }

  private func withElement(of value: Value, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    var encoder = KeyEncoder()
    do { try encoder.append(value) } catch { return false }
    return body(encoder.bytes)
  }
}
