@testable import EntityStore

extension AllTypes {
  /// The record of the value, in which NaN is equal to itself and the zeros are two.
  func content(in store: Store) throws -> [UInt8] {
    try store.core.read { core in
      Array(try core.encode(self, of: try core.entity(named: "AllTypes")))
    }
  }
}
