internal import LodestoreFormat

extension JSONRecordEncoder {
  /// Adds `records` to `page`, and rejects those that are none of the entity.
  ///
  /// - Parameters:
  ///   - index: the unique index that records are matched by: a record without a part of its key would
  ///     be inserted by every import anew, as nulls do not collide.
  ///   - sizeLimit: of a record, in bytes.
  package func take(
    _ records: some Sequence<JSONRecord>, matching index: [UInt32]?, isPart: Bool, sizeLimit: Int,
    into page: inout DecodedPage
  ) {
    for (number, record) in records.enumerated() {
      do throws(RecordRejection) {
        try read(record)
        if let index, let rejection = missingKey(index, in: record) { throw rejection }
        let content = try content(of: record, isPart: isPart)
        guard content.count + RecordLayout.checksumSize <= sizeLimit else {
          throw RecordRejection(
            "the record has \(content.count) bytes, the limit is \(sizeLimit)",
            offset: record.offset)
        }
        page.append(
          content, at: .init(record: number + 1, byteOffset: record.offset),
          given: isPart ? isGiven : nil)
      } catch {
        page.reject(
          .init(record: number + 1, byteOffset: error.offset), attribute: error.attribute,
          reason: error.reason)
      }
    }
    page.unknownMembers.merge(takeUnknownMembers(), uniquingKeysWith: +)
  }
}
