internal import LodestoreBytes
internal import LodestoreFormat

/// A text test in an object of its own, so that a scan can run it without reference counting.
final class SteadyTextTest {
  fileprivate let test: TextTest
  /// The bytes of the only text that passes, if there is only one.
  fileprivate let exact: ByteView?

  init(_ test: TextTest) {
    self.test = test
    exact = test.onlySpelling.map { .copy(of: $0) }
  }

  deinit { exact?.deallocate() }

  fileprivate func admits(_ text: ByteView) -> Bool { test.admits(text) }
}

/// A test of one text within the bytes of a record, without a view of the record.
///
/// The test's owner must keep the ``SteadyTextTest`` alive.
struct VariableTest {
  private unowned(unsafe) let test: SteadyTextTest
  private let exact: ByteView?
  private let ordinal: Int
  private let nullBit: NullBit
  private let isNegated: Bool

  init(_ slot: RecordLayout.Slot, _ test: SteadyTextTest, isNegated: Bool) {
    self.test = test
    exact = test.exact
    ordinal = Int(slot.position)
    nullBit = NullBit(of: slot)
    self.isNegated = isNegated
  }

  /// Returns whether a record with narrow offsets passes, or `nil` if its offsets break the format.
  @inline(__always)
  func admits(_ bytes: ByteView, _ offsets: VariableOffsets) -> Bool? {
    if nullBit.isSet(in: bytes) { return isNegated }
    guard let text = offsets.text(ordinal, in: bytes) else { return nil }
    return admits(text) != isNegated
  }

  @inline(__always)
  private func admits(_ text: ByteView) -> Bool {
    guard let exact else { return test.admits(text) }
    return text.count == exact.count && compareKeys(text, exact) == 0
  }

  /// Returns whether the record of a view passes.
  func admits(_ view: RecordView) -> Bool {
    if nullBit.isSet(in: view.bytes) { return isNegated }
    return admits(view.variableBytes(ordinal: ordinal)) != isNegated
  }
}
