internal import LodestoreFormat

extension EntityChanges {
  /// The record that is to be written instead of `record`, with its derived attributes worked out and room
  /// for its checksum; `nil` where `record` has them right.
  ///
  /// - Parameter old: the record that it takes the place of; `nil` for a new one.
  @inline(__always)
  func derived(
    _ record: UnsafeRawBufferPointer, over old: RecordView?
  ) throws(StoreError) -> [UInt8]? {
    guard let derivations = entity.derivations else { return nil }
    return try derived(record, over: old, derivations)
  }

  @inline(never)
  private func derived(
    _ record: UnsafeRawBufferPointer, over old: RecordView?, _ derivations: RecordDerivations
  ) throws(StoreError) -> [UInt8]? {
    do {
      let before = try entity.values(of: try entity.view(incoming: record))
      var values = before
      let occasion: RecordDerivations.Occasion
      if let old {
        occasion = .update(over: try entity.values(of: old))
      } else {
        occasion = .insert
      }
      try derivations.derive(&values, occasion, of: entity, time: core.time)
      if zip(values, before).allSatisfy({ $0.hasSameBytes(as: $1) }) { return nil }
      return try content(of: values)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: 0, error)
    }
  }

  /// A record of the current layout with room for its checksum.
  func content(of values: [Value]) throws(StoreError) -> [UInt8] {
    let content: [UInt8]
    do {
      content = try entity.layout.content(values: values)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: 0, error)
    }
    try core.checkSize(content.count, of: entity)
    return content + [UInt8](repeating: 0, count: RecordLayout.checksumSize)
  }

  /// Calls `body` with the content to be stored: `content`, or another one where attributes are derived.
  ///
  /// Four bytes behind either are free.
  @inline(__always)
  func withDerived<R>(
    _ content: UnsafeMutableRawBufferPointer, over old: RecordView? = nil,
    _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if entity.derivations == nil { return try body(content) }
    let record = UnsafeRawBufferPointer(
      start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
    guard var made = try derived(record, over: old) else { return try body(content) }
    return try made.withMutableBytes { (bytes) throws(StoreError) in
      try body(bytes.recordContent)
    }
  }
}
