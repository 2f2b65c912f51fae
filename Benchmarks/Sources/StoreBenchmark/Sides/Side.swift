/// One of those that are compared: a way to keep the records in a file.
protocol Side: Sendable {
  /// For tables, `--sides` and JSON.
  var name: String { get }
  /// Opens the file, and makes it if it does not exist.
  func open(_ path: String) throws -> any SideStore
}

/// The side whose figures are 1 in the ratios.
let limitName = "lmdb"

/// A file of a side while it is open.
protocol SideStore: Sendable {
  /// The work of this side for an operation; nil if it has nothing to measure.
  func work(_ operation: Operation) -> Work?
  /// All pods, in the order of ids.
  func everything() throws -> Answer
  func close() throws
}

/// One side's part in an operation.
enum Work {
  /// The closure is measured. Its result is called afterwards and checks the found records. The
  /// result also keeps these records, so that they are released after the measurement.
  case timed(() async throws -> Check)
  /// A figure that is no time of the whole.
  case figure(() async throws -> Double)
}

typealias Check = () throws -> Answer

/// The failure.
struct BenchmarkError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
