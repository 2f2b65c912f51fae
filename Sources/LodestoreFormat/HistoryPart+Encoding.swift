import LodestoreBytes

extension HistoryPart {
  /// The bytes of the part, a document.
  package var encoded: [UInt8] {
    var writer = DocumentWriter()
    var part = WrittenObject(&writer)
    if let author = header?.author {
      part.member("author", &writer)
      writer.write(author)
    }
    if !changes.isEmpty {
      part.member("changes", &writer)
      let array = writer.beginArray()
      for change in changes { change.write(to: &writer) }
      writer.endArray(array, count: changes.count)
    }
    if let context = header?.context {
      part.member("context", &writer)
      writer.write(context)
    }
    if let images = header?.images { part.member("images", Int64(clamping: images), &writer) }
    if !links.isEmpty {
      part.member("links", &writer)
      let array = writer.beginArray()
      for group in links { group.write(to: &writer) }
      writer.endArray(array, count: links.count)
    }
    if let header {
      part.member("parts", Int64(header.partCount), &writer)
      part.member("process", header.process, &writer)
      part.member("time", &writer)
      writer.write(date: header.time)
      if let undoes = header.undoes { part.member("undoes", Int64(clamping: undoes), &writer) }
      if let untold = header.untold {
        part.member("untold", numbers: untold.map(\.rawValue), &writer)
      }
    }
    part.end(&writer)
    return writer.bytes
  }
}

extension HistoryPart.Change {
  fileprivate func write(to writer: inout DocumentWriter) {
    var change = WrittenObject(&writer)
    if case .updated(let attributes) = kind {
      change.member("attributes", numbers: attributes, &writer)
    }
    if kind == .deleted { change.member("deleted", data: ids.encoded, &writer) }
    change.member("entity", Int64(entity.rawValue), &writer)
    switch kind {
    case .inserted: change.member("inserted", data: ids.encoded, &writer)
    case .updated: change.member("updated", data: ids.encoded, &writer)
    case .restarted: change.member("restarted", data: [], &writer)
    case .deleted:
      if isExpired {
        change.member("expired", &writer)
        writer.write(true)
      }
    }
    change.end(&writer)
  }
}

extension HistoryPart.Links {
  fileprivate func write(to writer: inout DocumentWriter) {
    var links = WrittenObject(&writer)
    let isFirst = kind != .removed
    if isFirst { links.member(kind.rawValue, data: encodedPairs, &writer) }
    links.member("relationship", Int64(relationship), &writer)
    if !isFirst { links.member(kind.rawValue, data: encodedPairs, &writer) }
    links.end(&writer)
  }

  /// The pairs as numbers.
  ///
  /// Each id of side 1 has the gap to the id before, and the number of its links less one. The gaps
  /// between its ids of side 2 follow.
  package var encodedPairs: [UInt8] {
    var writer = DocumentWriter()
    var last: UInt64 = 0
    var start = 0
    while start < pairs.count {
      var end = start + 1
      while end < pairs.count, pairs[end].from == pairs[start].from { end += 1 }
      writer.writeLEB128(pairs[start].from - last)
      writer.writeLEB128(UInt64(end - start - 1))
      last = pairs[start].from
      var other: UInt64 = 0
      for pair in pairs[start..<end] {
        writer.writeLEB128(pair.to - other)
        other = pair.to
      }
      start = end
    }
    return writer.bytes
  }
}

/// An object that is being written; its members follow in the order of their names' bytes.
private struct WrittenObject {
  private let token: Int
  private var count = 0

  init(_ writer: inout DocumentWriter) { token = writer.beginObject() }

  /// Writes the name of the next member, whose value must follow.
  mutating func member(_ name: String, _ writer: inout DocumentWriter) {
    writer.writeName(name)
    count += 1
  }

  mutating func member(_ name: String, _ number: Int64, _ writer: inout DocumentWriter) {
    member(name, &writer)
    writer.write(number)
  }

  mutating func member(_ name: String, data: [UInt8], _ writer: inout DocumentWriter) {
    member(name, &writer)
    data._withBytes { writer.write(data: $0) }
  }

  mutating func member(_ name: String, numbers: [UInt32], _ writer: inout DocumentWriter) {
    member(name, &writer)
    let array = writer.beginArray()
    for number in numbers { writer.write(Int64(number)) }
    writer.endArray(array, count: numbers.count)
  }

  func end(_ writer: inout DocumentWriter) { writer.endObject(token, count: count) }
}
