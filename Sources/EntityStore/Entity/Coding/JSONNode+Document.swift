internal import LodestoreFormat

extension JSONNode {
  /// Writes the bytes of the value's ``jsonValue`` as a document, without creating that value.
  ///
  /// - Throws: `DocumentNestingError` beyond 128 levels; `writer` then ends with an incomplete
  ///   value.
  func writeDocument(to writer: inout DocumentWriter) throws {
    try withExtendedLifetime(document) { try document.reader.writeDocument(index, to: &writer) }
  }
}

/// Writing of parsed JSON entries as document values.
extension JSONTapeReader {
  /// The maximum number of members that are sorted by insertion, without an array.
  private static let insertionLimit = 24

  /// Writes the value at `index`; beyond 128 levels this throws and `writer` is incomplete.
  func writeDocument(_ index: Int, to writer: inout DocumentWriter) throws(DocumentNestingError) {
    try write(index, to: &writer, nesting: 0)
  }

  private func write(
    _ index: Int, to writer: inout DocumentWriter, nesting: Int
  ) throws(DocumentNestingError) {
    let entry = entries[index]
    switch entry.kind {
    case .null: writer.writeNull()
    case .false: writer.write(false)
    case .true: writer.write(true)
    case .integer:
      let digits = bytes(ofEntry: index)
      if let number = JSONNumber.int64(digits) {
        writer.write(number)
      } else {
        // The parser has refused integers beyond both `Int64` and `UInt64`.
        writer.write(JSONNumber.uint64(digits) ?? 0)
      }
    case .real: writer.write(canonical: JSONNumber.double(bytes(ofEntry: index)))
    case .string: withContent(index) { writer.write(text: $0) }
    case .array:
      try requireNesting(nesting)
      let token = writer.beginArray()
      var element = index + 1
      while element < Int(entry.link) {
        try write(element, to: &writer, nesting: nesting + 1)
        element = next(after: element)
      }
      writer.endArray(token, count: entry.childCount)
    case .object:
      try requireNesting(nesting)
      try writeObject(index, to: &writer, nesting: nesting)
    }
  }

  private func requireNesting(_ nesting: Int) throws(DocumentNestingError) {
    guard nesting < Document.deepestNesting else { throw DocumentNestingError() }
  }

  private func writeObject(
    _ index: Int, to writer: inout DocumentWriter, nesting: Int
  ) throws(DocumentNestingError) {
    let count = entries[index].childCount
    let token = writer.beginObject()
    let result = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: max(count, 1)) { keys in
      Result { () throws(DocumentNestingError) in
        let keys = UnsafeMutableBufferPointer(rebasing: keys[..<count])
        let isPlain = collectKeys(of: index, into: keys)
        sort(keys, isPlain: isPlain)
        for key in keys {
          let key = Int(key)
          if isPlain || !entries[key].isEscaped {
            writer.writeName(utf8: bytes(ofEntry: key))
          } else {
            writer.writeName(string(key))
          }
          try write(key + 1, to: &writer, nesting: nesting + 1)
        }
      }
    }
    try result.get()
    writer.endObject(token, count: count)
  }

  /// Collects the entries of an object's keys; returns true when no key has escapes.
  private func collectKeys(of index: Int, into keys: UnsafeMutableBufferPointer<UInt32>) -> Bool {
    var isPlain = true
    var key = index + 1
    for at in keys.indices {
      keys.initializeElement(at: at, to: UInt32(truncatingIfNeeded: key))
      if entries[key].isEscaped { isPlain = false }
      key = next(after: key + 1)
    }
    return isPlain
  }

  private func sort(_ keys: UnsafeMutableBufferPointer<UInt32>, isPlain: Bool) {
    guard isPlain else {
      let names = keys.map { key in (name: string(Int(key)), key: key) }
      let sorted = names.sorted { DocumentMembers.precedes($0.name, $1.name) }
      for (at, item) in sorted.enumerated() { keys[at] = item.key }
      return
    }
    guard keys.count <= Self.insertionLimit else {
      for (at, key) in keys.sorted(by: precedes).enumerated() { keys[at] = key }
      return
    }
    var end = 1
    while end < keys.count {
      let key = keys[end]
      var at = end
      while at > 0, precedes(key, keys[at - 1]) {
        keys[at] = keys[at - 1]
        at -= 1
      }
      keys[at] = key
      end += 1
    }
  }

  @inline(__always)
  private func precedes(_ a: UInt32, _ b: UInt32) -> Bool {
    DocumentMembers.precedes(bytes(ofEntry: Int(a)), bytes(ofEntry: Int(b)))
  }
}
