internal import EntityStore

/// The values that make a request conditional: RFC 9110, 8.8.
///
/// Validators are not trusted: they come from a server, or from a store that any program may have
/// written. A value that is not allowed in a header field is treated as absent.
struct Validators: Sendable, Hashable {
  var entityTag: String?
  var lastModified: String?

  init(entityTag: String?, lastModified: String?) {
    self.entityTag = entityTag.flatMap { Self.isEntityTag($0) ? $0 : nil }
    self.lastModified = lastModified.flatMap { HTTPDate.seconds($0) == nil ? nil : $0 }
  }

  init(_ memory: PageMemory) {
    self.init(entityTag: memory.entityTag, lastModified: memory.lastModified)
  }

  var isEmpty: Bool { entityTag == nil && lastModified == nil }

  /// Whether the text is an entity tag: quoted, without control characters, spaces and inner
  /// quotes, optionally after `W/`.
  private static func isEntityTag(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let start = bytes.starts(with: [0x57, 0x2F]) ? 2 : 0
    guard bytes.count >= start + 2, bytes.count <= 1024, bytes[start] == 0x22, bytes.last == 0x22
    else { return false }
    return bytes[(start + 1)..<(bytes.count - 1)].allSatisfy {
      $0 == 0x21 || (0x23...0x7E).contains($0)
    }
  }
}
