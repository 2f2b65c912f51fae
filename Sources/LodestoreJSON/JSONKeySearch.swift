import LodestoreBytes

/// Finds a member of an object by its key.
enum JSONKeySearch {
  /// The entry of the key, searched from the first entry; `nil` if the object lacks it.
  static func find(_ key: String, in document: JSONDocument, object: Int) -> Int? {
    find(key, in: document, object: object, from: object + 1)
  }

  /// Searches from one key to the end, then from the first key.
  ///
  /// Keys requested in the order of the text need one comparison each.
  @inline(__always)
  static func find(_ key: String, in document: JSONDocument, object: Int, from start: Int) -> Int? {
    var key = key
    return key.withUTF8 { utf8 in
      let bytes = ByteView(utf8)
      let end = Int(document.entries[object].link)
      return find(bytes, in: document, from: start, to: end)
        ?? find(bytes, in: document, from: object + 1, to: start)
    }
  }

  @inline(__always)
  private static func find(
    _ key: ByteView, in document: JSONDocument, from start: Int, to end: Int
  ) -> Int? {
    let entries = document.entries
    var index = start
    while index < end {
      let entry = entries[index]
      if entry.isIrregular {
        // Keys with escapes or non-ASCII bytes are compared as Swift strings, as in the check for
        // duplicate keys.
        let other = JSONStringContent.string(entry, document.text)
        if other == String(decoding: key, as: UTF8.self) { return index }
      } else if Int(entry.length) == key.count && isEqual(document.text, Int(entry.offset), key) {
        return index
      }
      let value = entries[index &+ 1]
      index = value.isContainer ? Int(value.link) : index &+ 2
    }
    return nil
  }

  @inline(__always)
  private static func isEqual(_ text: ByteView, _ start: Int, _ key: ByteView) -> Bool {
    for at in 0..<key.count where text[start &+ at] != key[at] { return false }
    return true
  }
}
