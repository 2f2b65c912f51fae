/// A storage of whole objects by key, with writes that can depend on the object in place.
///
/// Every replica protocol step is one of these calls. An implementation never retries a call whose
/// outcome it does not know: the caller repeats it with the same bytes, or reads the object.
///
/// Any task may call a storage, and calls may run at once.
///
/// Contract:
///
/// - `put` with ``PutCondition/absent`` creates the object or changes nothing. Of calls that race
///   for one key, exactly one succeeds.
/// - After `put` returns, every `get`, `head` and `list` sees the object. After `delete` returns,
///   none does.
/// - An object is seen whole or not at all.
///
/// ``StorageProbe`` checks the first two, since some services claim and do not keep them.
package protocol ObjectStorage: Sendable {
  /// The place for messages: the address or the path, without secrets.
  var place: String { get }

  /// Returns the content of an object, or a part of it.
  ///
  /// - Parameters:
  ///   - range: Positions in the object; `nil` for the whole. A range that begins at or after the
  ///     end of the object throws ``StorageError/Kind/badRange``. A range that ends later returns
  ///     fewer bytes.
  ///   - byteLimit: The maximum number of bytes of the content. A larger one throws
  ///     ``StorageError/Kind/tooLarge`` before it fills the memory.
  func get(_ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int) async throws(StorageError)
    -> StoredObject

  /// Passes the content of an object, or a part of it, to `take`, piece by piece and in order.
  ///
  /// After an error `take` may have received a part of the content. If `take` throws, the call ends
  /// with that error.
  func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead

  /// Writes an object whole, and returns the tag of the new content.
  ///
  /// - Throws: ``StorageError``. The object was not written if
  ///   ``StorageError/mayHaveHappened`` is false. Otherwise it may have been, also later.
  func put(_ content: ObjectContent, at key: ObjectKey, if condition: PutCondition)
    async throws(StorageError) -> ObjectTag

  /// Returns the facts of an object without its content.
  func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead

  /// Returns objects whose keys begin with `prefix`, in ascending order of the keys' bytes.
  ///
  /// - Parameters:
  ///   - prefix: The beginning of the keys, usually a folder with its slash. Some services order
  ///     folders differently from keys, so one call should list one folder without folders in it.
  ///   - after: Only keys greater than this one are listed.
  ///   - limit: The maximum number of objects, 1 to 1,000. A page may have fewer although more
  ///     follow; see ``ObjectPage/isLast``.
  func list(prefix: String, after: String?, limit: Int) async throws(StorageError) -> ObjectPage

  /// Deletes an object; succeeds if the object does not exist.
  func delete(_ key: ObjectKey) async throws(StorageError)

  /// The number of requests by which `put` writes content, without repetitions.
  func writeCount(of content: ObjectContent, if condition: PutCondition) -> Int

  /// Removes the remains of writes that began longer ago than an age and have not ended.
  ///
  /// Such remains are no objects, and take space. A write that still runs elsewhere after such a
  /// time fails, and is repeated by its caller.
  ///
  /// - Parameter prefix: The beginning of the keys of the writes.
  /// - Returns: The number of removed writes.
  func endOldWrites(prefix: String, olderThan age: Duration) async throws(StorageError) -> Int
}

extension ObjectStorage {
  package func get(_ key: ObjectKey, byteLimit: Int) async throws(StorageError) -> StoredObject {
    try await get(key, range: nil, byteLimit: byteLimit)
  }

  /// The default for storages that write each object by one request.
  package func writeCount(of content: ObjectContent, if condition: PutCondition) -> Int { 1 }

  /// The default for storages that leave nothing, or remove it themselves.
  package func endOldWrites(
    prefix: String, olderThan age: Duration
  ) async throws(StorageError) -> Int { 0 }

  /// The default for storages whose objects fit in memory.
  package func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    let object = try await get(
      key, range: range, byteLimit: Int(clamping: byteLimit))
    try take(object.bytes)
    return object.head
  }
}

/// The content of an object to be written.
package enum ObjectContent: Sendable {
  case bytes([UInt8])
  /// The content of a file, which nobody may change before the call returns.
  ///
  /// `sha256` are the 32 bytes of its SHA-256 if the caller knows them; otherwise the file is read
  /// once more.
  case file(path: String, sha256: [UInt8]? = nil)
}

/// The object in place that a write depends on.
package enum PutCondition: Sendable, Hashable {
  /// The object is written whether there is one or not.
  case none
  /// The object is written only if no object has its key (`If-None-Match: *`).
  case absent
  /// The object is written only if the present one has this tag (`If-Match`).
  case matches(ObjectTag)
}

/// A service's name for one content of an object (`ETag`), including its quotes.
///
/// Equal tags of one key mean equal bytes. Different tags may do so too.
package struct ObjectTag: Sendable, Hashable {
  package let text: String

  /// - Parameter text: The tag with or without its quotes.
  package init(_ text: String) {
    let isQuoted = text.hasPrefix("\"") || text.hasPrefix("W/\"")
    self.text = isQuoted ? text : "\"\(text)\""
  }
}

/// The facts of an object.
package struct ObjectHead: Sendable, Hashable {
  /// The number of bytes of the whole object.
  package var byteCount: UInt64
  package var tag: ObjectTag

  package init(byteCount: UInt64, tag: ObjectTag) {
    self.byteCount = byteCount
    self.tag = tag
  }
}

/// An object, or a part of one, in memory.
package struct StoredObject: Sendable, Hashable {
  package var head: ObjectHead
  package var bytes: [UInt8]

  package init(head: ObjectHead, bytes: [UInt8]) {
    self.head = head
    self.bytes = bytes
  }
}

/// One answer of ``ObjectStorage/list(prefix:after:limit:)``.
package struct ObjectPage: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package var key: String
    package var head: ObjectHead

    package init(key: String, head: ObjectHead) {
      self.key = key
      self.head = head
    }
  }

  package var entries: [Entry]
  /// Whether no keys follow the last entry.
  ///
  /// Otherwise the next page is requested after the last entry's key. A page that is not the last
  /// has at least one entry.
  package var isLast: Bool

  package init(entries: [Entry], isLast: Bool) {
    self.entries = entries
    self.isLast = isLast
  }
}
