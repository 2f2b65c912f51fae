import Foundation
import LodestoreBytes
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  /// The store's records about imports.
  static let imports = FuzzTarget("imports", longestInput: 2_048) {
    func document(_ value: some Encodable) throws -> [UInt8] {
      var writer = DocumentWriter()
      try DocumentCoding.encode(value, into: &writer)
      return Array(writer.bytes)
    }
    var state = ImportState()
    state.position = "page=2"
    state.pages = 3
    let page = RememberedPage(
      page: PageMemory(
        name: "https://example.org/1", entityTag: "\"a\"", lastModified: nil, next: "2"),
      ids: [1, 2, 9], epoch: 4,
      links: [RememberedLinks(pairs: [1, 7, 2, 7], unresolved: [.init(id: 9, key: [6, 1, 65])])])
    return [
      try document(state), try document(page), try document([UInt64]([1, 2, 3])),
      try document(ImportBasis(mark: 1, schema: 2, version: 3, epoch: 4)),
    ]
  } run: { bytes in
    try? tryAgain(ImportState.self, bytes)
    try? tryAgain(RememberedPage.self, bytes)
    try? tryAgain(ImportBasis.self, bytes)
    try? tryAgain([UInt64].self, bytes)
  }

  /// Requires that a decoded value can be encoded, and decodes to a value with the same encoding.
  private static func tryAgain<V: Codable>(_: V.Type, _ bytes: ByteView) throws {
    let value = try DocumentCoding.decode(V.self, from: bytes)
    var first = DocumentWriter()
    var second = DocumentWriter()
    do {
      try DocumentCoding.encode(value, into: &first)
      try DocumentCoding.encode(
        first.withBytes { try DocumentCoding.decode(V.self, from: $0) }, into: &second)
    } catch {
      require(false, "\(value) is not kept: \(error)")
    }
    require(first.bytes == second.bytes, "\(value) is kept in another way the second time")
  }
}
