internal import LodestoreBytes
internal import LodestoreFormat

/// A condition compiled for one record layout: attributes are replaced by their slots.
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
    case numberTests([NumberComparison], BoundComparison)
    case expression(BoundComparison)
    case closure(ConditionClosure)
    case related(RelatedTest)
    case search(BoundSearch)
    case proximity(any BoundProximity)
  }

  /// A test of a number that is not in a slot: the record id.
  enum NumberTest: Sendable {
    case interval(NumberInterval)
    case set(NumberSet)

    /// Creates the test; `nil` for one that no number passes.
    init?(_ test: AttributeTest) {
      switch test.kind {
      case .interval(let interval): self = .interval(interval)
      case .numbers(let set): self = .set(set)
      case .null, .text, .key, .keys: return nil
      }
    }

    func admits(_ key: Int64) -> Bool {
      switch self {
      case .interval(let interval): key >= interval.low && key <= interval.high
      case .set(let set): set.contains(key)
      }
    }
  }

  let layout: RecordLayout
  /// The tests of slots that every record must pass, run first because they are the cheapest.
  let slots: ContiguousArray<SlotTest>
  /// The comparisons of numbers that every record must pass, run second.
  let numbers: ContiguousArray<NumberComparison>
  /// The comparisons that ``numbers`` are compiled from.
  let comparisons: [BoundComparison]
  /// The tests of texts that every record must pass, run third.
  let texts: ContiguousArray<VariableTest>
  /// Whether ``numbers`` and ``texts`` are both empty, as in most scans.
  private let hasSlotsOnly: Bool
  /// The tests that ``texts`` refer to, kept alive here.
  private let steadyTests: [SteadyTextTest]
  /// The remaining parts of the condition, in their order.
  let rest: [Step]
  /// The least number of bytes of a record of this layout.
  ///
  /// Slots are not read from shorter records.
  let shortestRecord: Int

  private let offsets: VariableOffsets
  private let layoutNumber: UInt16

  init(_ condition: BoundCondition, layout: RecordLayout) {
    self.layout = layout
    offsets = VariableOffsets(layout)
    shortestRecord = offsets.shortestRecord
    layoutNumber = layout.number
    var slots: ContiguousArray<SlotTest> = []
    var numbers: ContiguousArray<NumberComparison> = []
    var comparisons: [BoundComparison] = []
    var texts: ContiguousArray<VariableTest> = []
    var steadyTests: [SteadyTextTest] = []
    var rest: [Step] = []
    func addText(_ slot: RecordLayout.Slot, _ test: TextTest, isNegated: Bool) {
      let steady = SteadyTextTest(test)
      steadyTests.append(steady)
      texts.append(VariableTest(slot, steady, isNegated: isNegated))
    }
    let parts = if case .all(let parts) = condition { parts } else { [condition] }
    // Slots and texts are tested before the other parts. So a closure is not called for a record
    // that a later part excludes, even if the closure would have thrown.
    for part in parts {
      let step = Self.step(part, layout)
      switch step {
      case .slot(let test): slots.append(test)
      case .numberTests(let tests, let comparison):
        numbers.append(contentsOf: tests)
        comparisons.append(comparison)
      case .text(let slot, let test): addText(slot, test, isNegated: false)
      case .not(.text(let slot, let test)): addText(slot, test, isNegated: true)
      case .constant(true): break
      default: rest.append(step)
      }
    }
    self.slots = slots
    self.numbers = numbers
    self.comparisons = comparisons
    self.texts = texts
    hasSlotsOnly = numbers.isEmpty && texts.isEmpty
    self.steadyTests = steadyTests
    self.rest = rest
  }

  /// Returns whether a record of this layout passes the tests of slots, numbers and texts.
  ///
  /// Returns `nil` if the record has another layout or wide offsets or breaks the format, or if a
  /// ``NumberComparison`` cannot decide.
  @inline(__always)
  func admits(_ bytes: ByteView) -> Bool? {
    guard bytes.count >= shortestRecord, bytes.uint16(at: 0) == layoutNumber else { return nil }
    for test in slots {
      if !test.admits(bytes) { return false }
    }
    if hasSlotsOnly { return true }
    for test in numbers {
      guard let answer = test.admits(bytes) else { return nil }
      if !answer { return false }
    }
    for test in texts {
      guard let answer = test.admits(bytes, offsets) else { return nil }
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
    case .expression(let comparison):
      NumberComparison.all(comparison, layout).map { .numberTests($0, comparison) }
        ?? .expression(comparison)
    case .closure(let closure): .closure(closure)
    case .related(let test): .related(test)
    case .search(let search): .search(search)
    case .proximity(let place): .proximity(place)
    }
  }

  private static func test(_ test: AttributeTest, _ layout: RecordLayout, isNegated: Bool) -> Step {
    func wrapped(_ step: Step) -> Step { isNegated ? .not(step) : step }
    if test.attribute.isRecordID {
      return wrapped(NumberTest(test).map(Step.recordID) ?? .constant(false))
    }
    guard let index = layout.slotIndex(ofAttribute: test.attribute.number) else {
      return .constant(test.admits(test.attribute.initial) != isNegated)
    }
    let slot = layout.slots[index]
    switch test.kind {
    case .null: return wrapped(.isNull(slot))
    case .interval(let interval):
      return SlotTest(slot, interval, isNegated: isNegated).map(Step.slot) ?? .constant(isNegated)
    case .numbers(let set): return wrapped(.numbers(slot, set, admitsNull: test.admitsNull))
    case .text(let test, _, _, _): return wrapped(.text(slot, test))
    case .key(let interval): return wrapped(.key(slot, interval))
    case .keys(let set): return wrapped(.keys(slot, set.table, admitsNull: test.admitsNull))
    }
  }
}

extension AttributeTest {
  /// Returns whether `value` passes the test, without a record.
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
      return text.withUTF8 { test.admits(ByteView($0)) }
    case .key(let interval): return withElement(of: value) { interval.admits($0) }
    case .keys(let set):
      let table = set.table
      return withElement(of: value) { table.contains($0) }
    }
  }

  private func withElement(of value: Value, _ body: (ByteView) -> Bool) -> Bool {
    var encoder = KeyEncoder()
    do { try encoder.append(value) } catch { return false }
    return body(encoder.bytes)
  }
}
