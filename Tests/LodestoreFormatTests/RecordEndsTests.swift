import LodestoreBytes
import LodestoreFormat
import Testing

/// The quick check of a record's ends accepts exactly the ends that do not decrease and whose last
/// one is the end of the record.
@Suite struct RecordEndsTests {
  private func layout(_ variableCount: Int) -> RecordLayout {
    RecordLayout(
      number: 1,
      attributes: (0..<variableCount).map {
        .init(number: UInt32($0), type: .string, isOptional: false)
      })
  }

  /// A record with these ends, whatever they are.
  private func record(_ ends: [Int], heapCount: Int) -> [UInt8] {
    var bytes: [UInt8] = [1, 0]
    for end in ends { bytes += [UInt8(end & 0xff), UInt8(end >> 8)] }
    return bytes + [UInt8](repeating: 0x61, count: heapCount + RecordLayout.checksumSize)
  }

  private func isAccepted(_ ends: [Int], heapCount: Int) -> Bool {
    withExactAllocation(record(ends, heapCount: heapCount)) {
      layout(ends.count).narrowHeapOffset(in: $0) == 2 + ends.count * 2
    }
  }

  @Test func `ends in order are accepted, and ends out of order are refused`() {
    var random = SeededGenerator(salt: 21)
    var acceptedCount = 0
    for round in 0..<SeededGenerator.caseCount(byDefault: 40_000) {
      let heapCount = round % 50 == 0 ? 0x7fff : Int.random(in: 0...200, using: &random)
      var ends = (0..<round % 14).map { _ in Int.random(in: 0...heapCount, using: &random) }
        .sorted()
      if !ends.isEmpty { ends[ends.count - 1] = heapCount }
      // Up to two ends are changed to a wrong place.
      for _ in 0..<Int.random(in: 0...2, using: &random) where !ends.isEmpty {
        let index = Int.random(in: 0..<ends.count, using: &random)
        ends[index] =
          Bool.random(using: &random)
          ? Int.random(in: 0...0xffff, using: &random)
          : min(0xffff, max(0, ends[index] + Int.random(in: -1...1, using: &random)))
      }
      let isInOrder =
        zip(ends, ends.dropFirst()).allSatisfy { $0 <= $1 } && (ends.last ?? 0) == heapCount
      acceptedCount += isInOrder ? 1 : 0
      guard isAccepted(ends, heapCount: heapCount) == isInOrder else {
        Issue.record("\(ends) of \(heapCount); \(SeededGenerator.replay)")
        return
      }
    }
    #expect(acceptedCount > 1_000, "\(SeededGenerator.replay)")
  }

  /// Two neighbouring ends are out of order in a way that the borrow of a whole-word subtraction
  /// could hide.
  @Test func `an end below its predecessor is found at every index`() {
    for count in 2...13 {
      for index in 0..<(count - 1) {
        for (end, next) in [(1, 0), (0xffff, 0), (0x8000, 0x7fff), (0xffff, 0x7fff), (9, 8)] {
          var ends = [Int](repeating: 0, count: count)
          for later in index..<count { ends[later] = 9 }
          ends[index] = end
          if index + 1 < count - 1 { ends[index + 1] = next }
          let isInOrder = zip(ends, ends.dropFirst()).allSatisfy { $0 <= $1 }
          #expect(isAccepted(ends, heapCount: 9) == isInOrder, "\(ends)")
        }
      }
    }
  }

  @Test func `ends of long records are left to the slow check`() throws {
    let ends = [5, 0x8000, 0x9000, 0x9000, 0x9001]
    #expect(!isAccepted(ends, heapCount: 0x9001))
    let view = try record(ends, heapCount: 0x9001)._withBytes {
      try RecordView($0, layout: layout(5)).heapOffset
    }
    #expect(view == 12)
  }
}
