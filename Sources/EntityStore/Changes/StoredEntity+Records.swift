internal import LodestoreFormat

extension StoredEntity {
  /// Encodes values as a record of the current layout.
  ///
  /// - Parameter id: the id of the record to which the values belong, for an error.
  func record(of values: [Value], id: UInt64 = 0) throws(StoreError) -> RecordBytes {
    do {
      return try RecordBytes(values, in: layout)
    } catch {
      throw .damagedRecord(entity: name, recordID: id, error)
    }
  }

  /// The values of record `id`, in the order of the current layout.
  func values(of view: RecordView, id: UInt64) throws(StoreError) -> [Value] {
    do {
      return try values(of: view)
    } catch {
      throw .damagedRecord(entity: name, recordID: id, error)
    }
  }
}
