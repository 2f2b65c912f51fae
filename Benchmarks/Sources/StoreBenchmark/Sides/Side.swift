/// A compared program: a library or engine that stores the records in a file.
protocol Side: Sendable {
  /// The name in tables, in `--sides` and in JSON.
  var name: String { get }
  /// Opens the file, and makes it if it does not exist.
  func open(_ path: String) throws -> any SideStore
}

/// The side of the reference: a ratio is a figure of another side divided by the figure of this
/// side.
let limitName = "lmdb"

/// The open file of a side.
protocol SideStore: Sendable {
  /// Returns this side's work for an operation, or `nil` if it does not have the operation.
  func work(_ operation: Operation) -> Work?
  /// All pods, in the order of ids.
  func everything() throws -> Answer
  func close() throws
}

/// One side's part in an operation.
enum Work {
  /// A measured closure. The closure's result is a second closure that checks the found records
  /// afterwards. The result also holds these records, so that they are released after the
  /// measurement.
  case timed(() async throws -> Check)
  /// A closure that measures by itself and returns the figure.
  case figure(() async throws -> Double)
}

typealias Check = () throws -> Answer
