#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import LodestoreFormat

/// Encodes the records of pages by the names of their members; for one task at a time.
final class MemberEncoding {
  private let key: [UInt32]
  private let path: String
  private let names: [String: String]
  private let sizeLimit: Int
  private var encoder: (layout: UInt16, encoder: JSONRecordEncoder)?

  init(_ store: StoreCore, key: Set<UInt32>, path: String, names: [String: String]) {
    self.key = Array(key)
    self.path = path
    self.names = names
    sizeLimit = store.options.recordSizeLimitInBytes
  }

  func take(
    _ data: Data, into page: inout DecodedPage, _ entity: StoredEntity
  ) throws(StoreError) {
    let records = try JSONPage(data, number: page.number, path: path).records
    page.byteCount = data.count
    encoder(for: entity).take(
      records.lazy.map { .object($0) }, matching: key, isPart: false, sizeLimit: sizeLimit,
      into: &page)
  }

  private func encoder(for entity: StoredEntity) -> JSONRecordEncoder {
    if let encoder, encoder.layout == entity.layout.number { return encoder.encoder }
    let made = JSONRecordEncoder(entity, names: names)
    encoder = (entity.layout.number, made)
    return made
  }
}
