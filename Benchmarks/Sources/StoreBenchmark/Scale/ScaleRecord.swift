import Foundation
import Lodestore

/// A kind of record for measuring stores of growing size.
protocol ScaleRecord: NumberedRecord {
  static var plural: String { get }
  /// The numbers of records of the measured stores.
  static var sizes: [Int] { get }
  /// The expected number of file bytes for each record, used until a size has been measured.
  static var expectedByteCount: Double { get }
  /// Measures the reads that only this kind of record has.
  static func ownReads(in store: ScaleStore<Self>) throws -> [ScaleFigure: Double]
}

extension ToDo: ScaleRecord {
  static let plural = "to-do items"
  static let sizes = [1, 3, 10, 30, 100].map { $0 * 1_000_000 }
  static let expectedByteCount = 110.0

  static func ownReads(in store: ScaleStore<ToDo>) throws -> [ScaleFigure: Double] {
    [.firstPage: try store.nanosecondsPerPage()]
  }
}

extension Pod: ScaleRecord {
  static let plural = "pods"
  static let sizes = [1, 3, 10, 20].map { $0 * 1_000_000 }
  static let expectedByteCount = 300.0

  static func ownReads(in store: ScaleStore<Pod>) throws -> [ScaleFigure: Double] {
    let index = Pod.index(\.name, \.version)
    let time = try store.nanosecondsPerRead {
      let pod = Pod.numbered($0)
      return (pod.name, pod.version)
    } read: { snapshot, key in
      try snapshot.fetch(index.key(key.0, key.1))
    }
    return [.getUnique: time]
  }
}
