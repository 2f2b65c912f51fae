import LodestoreBytes

/// A function that is tried with arbitrary bytes.
///
/// See Tests/README.md, "Fuzzing".
struct FuzzTarget: Sendable {
  let name: String
  /// Longer inputs are not tried.
  let longestInput: Int
  /// Inputs to begin with, from the encoders where they are not text.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Tries an input.
  ///
  /// The input's memory ends with its last byte, so that the address sanitizer sees a read beyond
  /// it.
  ///
  /// A thrown error is a correct refusal. A finding is a trap of the tried code or of
  /// ``require(_:_:)``, a report of the address sanitizer, or a run without end.
  let run: @Sendable (ByteView) throws -> Void

  init(
    _ name: String, longestInput: Int, seeds: @escaping @Sendable () throws -> [[UInt8]],
    run: @escaping @Sendable (ByteView) throws -> Void
  ) {
    self.name = name
    self.longestInput = longestInput
    self.seeds = seeds
    self.run = run
  }

  static let all: [FuzzTarget] = [
    .catalogue, .condition, .date, .document, .gzip, .history, .imports, .json, .key, .names,
    .pages, .pattern, .postings, .record, .search, .separatedValues, .token, .view,
  ]
}

/// Ends the process, which is a finding, if `isRight` is false.
func require(_ isRight: Bool, _ message: @autoclosure () -> String) {
  if !isRight { fatalError(message()) }
}

/// Takes numbers from the front of an input; zeros after its end.
struct InputReader {
  private(set) var rest: ByteView

  init(_ bytes: ByteView) { rest = bytes }

  mutating func byte() -> UInt8 {
    guard let first = rest.first else { return 0 }
    rest = rest.dropFirst()
    return first
  }

  mutating func number(below bound: Int) -> Int { Int(byte()) % bound }

  /// Calls `body` with the rest of the input.
  ///
  /// The rest is copied to memory of its exact size, so that the address sanitizer also sees a read
  /// in front of it.
  func withRest<R>(_ body: (ByteView) throws -> R) rethrows -> R {
    let copy = MutableByteView.allocate(byteCount: rest.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyMemory(from: rest)
    return try body(ByteView(copy))
  }
}
