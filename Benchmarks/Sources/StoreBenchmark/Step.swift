/// One side's part in an operation; all sides of it do the same to the same records.
struct Step {
  let operation: String
  /// A side whose name begins with "raw" is what others are compared with.
  let side: String
  /// Whether later steps need what this one leaves, so that it runs even when it is not wanted.
  let isPrepared: Bool
  /// Answers how many records it found or changed.
  let body: () throws -> Int

  init(
    _ operation: String, _ side: String, isPrepared: Bool = false,
    _ body: @escaping () throws -> Int
  ) {
    self.operation = operation
    self.side = side
    self.isPrepared = isPrepared
    self.body = body
  }

  var isRaw: Bool { side.hasPrefix("raw") }
}

extension [Step] {
  /// The sides of one operation after each other, operations in the order of their first sides.
  var groupedByOperation: [Step] {
    var order: [String] = []
    for step in self where !order.contains(step.operation) { order.append(step.operation) }
    return order.flatMap { operation in filter { $0.operation == operation } }
  }
}

/// What the first side of each operation counted, which every other side must count too.
struct Counts {
  private var first: [String: (side: String, count: Int)] = [:]

  mutating func check(_ count: Int, of step: Step) throws {
    guard count > 0 else {
      throw BenchmarkError(text: "\(step.operation): \(step.side) counted nothing")
    }
    let expected = first[step.operation] ?? (step.side, count)
    guard count == expected.count else {
      throw BenchmarkError(
        text: "\(step.operation): \(step.side) counted \(count), "
          + "\(expected.side) \(expected.count)")
    }
    first[step.operation] = expected
  }
}

/// What went wrong.
struct BenchmarkError: Error {
  var text: String
}
