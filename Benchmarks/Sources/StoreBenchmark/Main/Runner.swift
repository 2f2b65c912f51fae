import BenchmarkFigures
import CRecords
import Foundation

/// Runs the operations: each one on all sides in turn, and each time on its initial store.
///
/// An operation that changes a store changes a copy, so operations do not affect each other. A run
/// of a few operations gives the same figures as a run of all.
final class Runner {
  private let workload: Workload
  private let sides: [any Side]
  private let operations: [Operation]
  private let directory: String
  private let callgrind: Callgrind?
  /// The open stores of this run that operations only read, by path.
  private var opened: [String: any SideStore] = [:]
  private var supported: [String: Bool] = [:]
  private var answers = Answers()

  init(
    workload: Workload, sides: [any Side], operations: [Operation], directory: String,
    callgrind: Callgrind?
  ) {
    self.workload = workload
    self.sides = sides
    self.operations = operations
    self.directory = directory
    self.callgrind = callgrind
  }

  func run(_ number: Int, of runs: Int, into report: inout Report) async throws {
    // Sizes are equal in all runs, so they are measured once.
    for operation in operations where number == 0 || operation.unit != .bytes {
      Progress.show("run \(number + 1) of \(runs): \(operation.rawValue)")
      // Each run begins with another side, because the disk may be busier for the first side.
      for place in sides.indices {
        let side = sides[(place + number) % sides.count]
        if let sample = try await measure(operation, side) {
          report.add(sample, operation, side.name)
        }
      }
    }
    for store in opened.values { try store.close() }
    opened = [:]
    Progress.clear()
  }

  // MARK: One operation of one side

  private func measure(_ operation: Operation, _ side: any Side) async throws -> Sample? {
    switch operation {
    case .fileSize:
      return Sample(figure: Double(try StoreFile.size(try await filled(side, by: .insert))))
    case .itemFileSize:
      return Sample(figure: Double(try StoreFile.size(try await filled(side, by: .insertItems))))
    case .openClose: return try await openAndClose(side)
    default: break
    }
    switch operation.start {
    case .filled:
      return try await measure(operation, try await reading(side, .insert), side)
    case .filledWithItems:
      return try await measure(operation, try await reading(side, .insertItems), side)
    case .empty: return try await measureAlone(operation, side, copies: nil)
    case .copy:
      guard try supports(operation, side) else { return nil }
      return try await measureAlone(operation, side, copies: try await filled(side, by: .insert))
    }
  }

  /// Measures on a new file, which is removed afterwards.
  private func measureAlone(
    _ operation: Operation, _ side: any Side, copies original: String?
  ) async throws -> Sample? {
    let path = "\(directory)/\(side.name).work"
    StoreFile.remove(path)
    defer { StoreFile.remove(path) }
    if let original { try copy(original, to: path) }
    let store = try side.open(path)
    do {
      let sample = try await measure(operation, store, side)
      try store.close()
      return sample
    } catch {
      try? store.close()
      throw error
    }
  }

  private func measure(
    _ operation: Operation, _ store: any SideStore, _ side: any Side
  ) async throws -> Sample? {
    switch store.work(operation) {
    case nil: return nil
    case .figure(let body)?: return Sample(figure: try await body())
    case .timed(let body)?:
      let name = "\(operation.rawValue): \(side.name)"
      if callgrind == nil {
        if operation.changesFile { try FreeMemory.touch(in: directory) }
        // Without this call, this side's time would include the release of the heap that the
        // previous side left.
        raw_trim_memory()
      }
      let (sample, check) = try await Sample.measure(name, callgrind, body)
      var answer = try check()
      if operation.leavesTheSame {
        // Under valgrind, reading all records would take longer than the measured operation.
        guard sample.instructions == nil else { return sample }
        answer.hash = try store.everything().hash
      }
      try answers.check(answer, operation, side.name)
      return sample
    }
  }

  private func openAndClose(_ side: any Side) async throws -> Sample? {
    let path = "\(directory)/\(side.name).work"
    defer { StoreFile.remove(path) }
    try copy(try await filled(side, by: .insert), to: path)
    // Lodestore checks all pages of a copied file at its first opening, which is not measured.
    try side.open(path).close()
    return try await Sample.measure(side.name, nil) {
      for _ in 0..<Amounts.openings { try side.open(path).close() }
      return { Answer(count: Amounts.openings) }
    }.0
  }

  /// Returns whether a side has the operation, without copying a file.
  private func supports(_ operation: Operation, _ side: any Side) throws -> Bool {
    let name = "\(operation.rawValue): \(side.name)"
    if let isSupported = supported[name] { return isSupported }
    let path = "\(directory)/\(side.name).work"
    StoreFile.remove(path)
    defer { StoreFile.remove(path) }
    let store = try side.open(path)
    let isSupported = store.work(operation) != nil
    try store.close()
    supported[name] = isSupported
    return isSupported
  }

  // MARK: Files

  /// The store with all pods or all items, open for reading.
  private func reading(_ side: any Side, _ insert: Operation) async throws -> any SideStore {
    let path = try await filled(side, by: insert)
    if let store = opened[path] { return store }
    let store = try side.open(path)
    opened[path] = store
    return store
  }

  /// Returns the path of the store with all pods or all items, and fills the store at the first
  /// call.
  private func filled(_ side: any Side, by insert: Operation) async throws -> String {
    let path = "\(directory)/\(side.name).\(insert.rawValue)"
    guard !FileManager.default.fileExists(atPath: path) else { return path }
    let store = try side.open(path)
    guard case .timed(let body)? = store.work(insert) else {
      throw BenchmarkError("\(side.name) cannot \(insert.rawValue)")
    }
    var answer = try await body()()
    if insert.leavesTheSame {
      answer.hash = try store.everything().hash
      guard answer == Answer(workload.pods) else {
        throw BenchmarkError("\(side.name): what was inserted is not what was generated")
      }
    }
    try answers.check(answer, insert, side.name)
    try store.close()
    return path
  }

  private func copy(_ original: String, to path: String) throws {
    try FileManager.default.copyItem(atPath: original, toPath: path)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    // The pages of the copy are synced here, so that the first measured commit does not write them.
    try file.synchronize()
    try file.close()
  }
}

/// The answer of the first side to each operation, which every other side must equal.
private struct Answers {
  private var first: [Operation: (side: String, answer: Answer)] = [:]

  mutating func check(_ answer: Answer, _ operation: Operation, _ side: String) throws {
    guard answer.count > 0 else {
      throw BenchmarkError("\(operation.rawValue): \(side) counted nothing")
    }
    let expected = first[operation] ?? (side, answer)
    guard answer == expected.answer else {
      throw BenchmarkError(
        "\(operation.rawValue): \(side) answered \(answer), \(expected.side) \(expected.answer)")
    }
    first[operation] = expected
  }
}
