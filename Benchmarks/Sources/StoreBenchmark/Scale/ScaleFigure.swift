import Foundation

/// The measured figures at each size; the raw value is the name in JSON.
enum ScaleFigure: String, CaseIterable {
  /// The time of the insert with its commit, minus the time for generating the records.
  case insertWall = "insert-wall"
  case insertProcessor = "insert-cpu"
  case memory = "insert-memory"
  case fileSize = "file-size"
  case getID = "get-id"
  case getUnique = "get-unique"
  case firstPage = "first-page"

  var title: String {
    switch self {
    case .insertWall: "insert, wall"
    case .insertProcessor: "insert, CPU"
    case .memory: "memory"
    case .fileSize: "file"
    case .getID: "get by id"
    case .getUnique: "get by key"
    case .firstPage: "first page"
    }
  }

  var unit: String {
    switch self {
    case .insertWall, .insertProcessor: "nanoseconds per record"
    case .memory: "bytes"
    case .fileSize: "bytes per record"
    case .getID, .getUnique, .firstPage: "nanoseconds per read"
    }
  }

  /// Whether the figure may be at most ``ScaleCurve/limit`` times its value at the first size.
  var isLimited: Bool {
    switch self {
    case .insertWall, .insertProcessor, .getID, .getUnique: true
    case .memory, .fileSize, .firstPage: false
    }
  }

  func text(_ value: Double) -> String {
    switch self {
    case .insertWall, .insertProcessor, .getID, .getUnique: String(format: "%.0f ns", value)
    case .memory: String(format: "%.1f MB", value / 1e6)
    case .fileSize: String(format: "%.1f B", value)
    case .firstPage: String(format: "%.1f µs", value / 1e3)
    }
  }
}
