import LodestoreBytes
import LodestoreFormat
import Testing

/// Sets of ids in runs, compared with sets in memory.
@Suite struct `Runs of ids` {
  @Test(arguments: 0..<20)
  func `runs of ids agree with sets of the same ids`(run: Int) throws {
    var numbers = SeededGenerator(salt: 700 + UInt64(run))
    func make() -> (IDRuns, Set<UInt64>) {
      var runs = IDRuns()
      var set: Set<UInt64> = []
      for _ in 0..<Int.random(in: 0...40, using: &numbers) {
        let first = UInt64.random(in: 1...90, using: &numbers)
        let end = first + UInt64.random(in: 1...6, using: &numbers)
        if Bool.random(using: &numbers) {
          runs.append(first)
          set.insert(first)
        } else {
          runs.append(first..<end)
          set.formUnion(first..<end)
        }
      }
      runs.normalize()
      return (runs, set)
    }
    let (a, first) = make()
    let (b, second) = make()
    #expect(Array(a) == first.sorted() && a.count == first.count)
    #expect(Array(a.subtracting(b)) == first.subtracting(second).sorted())
    #expect(Array(a.intersection(b)) == first.intersection(second).sorted())
    #expect((0..<100).allSatisfy { a.contains($0) == first.contains($0) })
    let decoded = try a.encoded._withBytes { try IDRuns(decoding: $0) }
    #expect(decoded.ranges == a.ranges)
  }

  @Test func `an id outside of the valid range is omitted from runs`() {
    var runs = IDRuns()
    for id: UInt64 in [7, .max, .max - 1, .max] { runs.append(id) }
    #expect(Array(runs) == [7, .max - 1])
  }

  @Test func `malformed runs of ids are refused`() {
    for bytes: [UInt8] in [
      [0, 0], [1], [1, 0, 0, 0], [0x80, 0, 1], [1] + Array(repeating: 0xff, count: 9) + [1],
      Array(repeating: 0xff, count: 9) + [1, 0],
      [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    ] {
      #expect(throws: FormatError.self, "\(bytes)") {
        try bytes._withBytes { _ = try IDRuns(decoding: $0) }
      }
    }
  }
}
