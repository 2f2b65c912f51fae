internal import LMDB
internal import LodestoreBytes
package import LodestoreFormat

/// The first values of an index's entries, and the number of entries that begin with them.
package struct IndexValue: Sendable, Equatable {
  /// The values of the first attributes, in the form of the index: a text is in NFC.
  package let values: [Value]
  /// Whether the last value is only the beginning of a value, because long keys are cut.
  package let isCut: Bool
  package fileprivate(set) var count: Int
}

/// An entry of an index that leads to a record.
package struct LeadingEntry: Sendable {
  package let index: DynamicIndex
  /// The key as the record's values require it.
  package let key: [UInt8]
  /// The values of the key.
  package let value: IndexValue
  /// Whether the index has the entry; false for a damaged index.
  package let isPresent: Bool
}

extension DynamicSnapshot {
  /// Visits the distinct first values of an index in the order of its entries, until `body` returns
  /// false.
  ///
  /// Only entries are read, and no record. Entries of expired records are left out.
  ///
  /// - Parameter attributeCount: the number of first attributes whose values are compared.
  /// - Returns: false if `body` returned false, or if `control` ended the walk. The value whose
  ///   entries were being counted is then not visited.
  package func forEachValue(
    of index: DynamicIndex, of entity: DynamicEntity, attributeCount: Int = 1,
    control: RunControl = RunControl(), _ body: (IndexValue) throws -> Bool
  ) throws -> Bool {
    let cursor = try Cursor(index.stored.tree, in: core.transaction)
    let expired = try core.expired(of: entity.stored)
    var group: EntryGroup?
    var readCount = 0
    var isThere = try cursor.first()
    while isThere {
      readCount &+= 1
      if readCount % 1_024 == 0, control.isCancelled() { return false }
      let key = cursor.key
      if try expired?.contains(index.stored.recordID(ofEntry: key, cursor.value)) != true {
        if group?.includes(key) == true {
          group?.count &+= 1
        } else {
          if let group, try !body(group.value) { return false }
          group = EntryGroup(key, attributeCount, isUnique: index.isUnique)
        }
      }
      isThere = try cursor.next()
    }
    return try group.map { try body($0.value) } ?? true
  }

  /// The first values of the first attribute of `index`, each once, without a count of entries.
  ///
  /// - Parameters:
  ///   - most: the maximum number of values.
  ///   - isReversed: whether the last values are returned, the last one first.
  ///   - control: ends the search with the values found so far.
  /// - Complexity: O(`most` · log *n* + *e*) for *n* entries and *e* entries of expired records.
  package func firstValues(
    of index: DynamicIndex, of entity: DynamicEntity, most: Int, isReversed: Bool = false,
    control: RunControl = RunControl()
  ) throws -> [IndexValue] {
    let cursor = try Cursor(index.stored.tree, in: core.transaction)
    let expired = try core.expired(of: entity.stored)
    var found: [IndexValue] = []
    var readCount = 0
    var isThere = try isReversed ? cursor.last() : cursor.first()
    while isThere, found.count < most {
      readCount &+= 1
      if readCount % 1_024 == 0, control.isCancelled() { break }
      if try expired?.contains(index.stored.recordID(ofEntry: cursor.key, cursor.value)) == true {
        isThere = try isReversed ? cursor.previous() : cursor.next()
        continue
      }
      let group = EntryGroup(cursor.key, 1, isUnique: index.isUnique)
      found.append(group.value)
      isThere =
        try isReversed
        ? group.prefix._withBytes { try cursor.seek(before: $0) }
        : cursor.seek(atOrAfter: group.prefix + group.end)
    }
    return found
  }

  /// The entries that the indexes of the entity must have for `record`.
  ///
  /// - Parameter most: the maximum number of entries of one index over elements.
  package func entries(
    leadingTo record: DynamicRecord, most: Int = 100
  ) throws(StoreError) -> [LeadingEntry] {
    let entity = record.entity
    let view = try entity.view(record.bytes, id: record.id)
    var encoder = KeyEncoder()
    var entries: [LeadingEntry] = []
    do {
      for index in entity.indexes {
        let hasNull = try IndexTuple.encode(
          index.description, of: view, in: entity.description, into: &encoder)
        if IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull) {
          encoder.append(recordID: record.id)
        }
        entries.append(
          try entry(
            Array(encoder.bytes), index, index.description.attributes.count, leadingTo: record.id))
      }
      for index in entity.elementIndexes {
        let tuples = try index.description.keys(in: view, entity.description)
        for tuple in tuples.prefix(most) {
          let id = withUnsafeBytes(of: record.id.bigEndian) { Array($0) }
          entries.append(try entry(tuple + id, index.entries, 1, leadingTo: record.id))
        }
      }
    } catch let error as FormatError {
      throw .damagedRecord(entity: entity.name, recordID: record.id, error)
    } catch {
      throw StoreError(wrapping: error)
    }
    return entries
  }

  private func entry(
    _ key: [UInt8], _ index: StoredIndex, _ attributeCount: Int, leadingTo id: UInt64
  ) throws -> LeadingEntry {
    let body = try core.transaction.get(key, in: index.tree)
    return try key._withBytes { bytes in
      LeadingEntry(
        index: DynamicIndex(stored: index), key: key,
        value: EntryGroup(bytes, attributeCount, isUnique: index.isUnique).value,
        isPresent: try body.map { try index.recordID(ofEntry: bytes, $0) == id } ?? false)
    }
  }
}

/// Successive entries whose first values are equal.
private struct EntryGroup {
  /// The bytes of the values, or of the part of them that a cut key has.
  let prefix: [UInt8]
  /// The bytes after the prefix that no entry of the group reaches.
  ///
  /// No element and no id begins with 255, except in a text that continues with a zero. In a cut
  /// key, 255, a hash and an id follow.
  var end: [UInt8] {
    Array(repeating: 255, count: isCut ? KeyEncoder.cutLength - KeyEncoder.cutPrefix + 9 : 1)
  }

  private let attributeCount: Int
  private let isCut: Bool
  var count = 1

  init(_ key: ByteView, _ attributeCount: Int, isUnique: Bool) {
    let isLong = key.count - (isUnique ? 0 : 8) >= KeyEncoder.cutLength
    // A cut key ends with a hash of the tuple, which is no element.
    let whole = isLong ? key[..<KeyEncoder.cutPrefix] : key
    let length = KeyDecoder.lengthOfBeginning(of: whole, elementCount: attributeCount)
    prefix = Array(whole[..<(length ?? whole.count)])
    isCut = length == nil
    self.attributeCount = attributeCount
  }

  func includes(_ key: ByteView) -> Bool {
    isCut
      ? key.count >= prefix.count && prefix.elementsEqual(key[..<prefix.count])
      : KeyDecoder.isElements(prefix, atBeginningOf: key)
  }

  var value: IndexValue {
    let values = prefix._withBytes { bytes in
      KeyDecoder.values(atBeginningOf: bytes, most: attributeCount)
    }
    return IndexValue(values: values, isCut: isCut, count: count)
  }
}
