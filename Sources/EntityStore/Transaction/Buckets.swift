internal import LMDB
internal import LodestoreBytes
public import LodestoreEssentials
internal import LodestoreFormat

/// Reading of buckets, which are named areas for the program's own settings and marks.
///
/// Keys and values are written in the same transactions as the entities.
///
///     try store.write { tx in try tx.put(Settings(pageSize: 100), for: "import", in: "settings") }
///     let settings = try store.read { try $0.value(Settings.self, for: "import", in: "settings") }
///
/// A bucket exists while it has a key. Its name has 1 to 64 bytes of UTF-8, and keys have 1 to 400
/// bytes. Keys are ordered by their bytes. Values have checksums. Names that begin with
/// `lodestore.` are reserved for the library, and programs cannot write such buckets.
extension ReadableTransaction where Self: ~Copyable {
  /// Returns the bytes under `key`; `nil` when the bucket does not have the key.
  public func data(for key: String, in bucket: String) throws(StoreError) -> Data? {
    try data(for: Array(key.utf8), in: bucket)
  }

  /// Returns the bytes under a key of bytes; `nil` when the bucket does not have the key.
  public func data(for key: [UInt8], in bucket: String) throws(StoreError) -> Data? {
    let core = access.core
    let stored = try Buckets.key(key, bucket)
    return try wrappingErrors {
      let tree = core.store.trees.buckets
      guard let body = try core.transaction.get(stored, in: tree) else { return nil }
      return try stored._withBytes { (stored) throws(FormatError) in
        Data(try Checksum.unsealed(key: stored, body: body))
      }
    }
  }

  /// Returns the value under `key`; `nil` when the bucket does not have the key.
  ///
  /// - Throws: ``StoreError/Code/undecodableValue`` when the bytes cannot be decoded as `V`.
  public func value<V: Decodable>(
    _: V.Type = V.self, for key: String, in bucket: String
  ) throws(StoreError) -> V? {
    guard let data = try data(for: key, in: bucket) else { return nil }
    do {
      return try data.withUnsafeBytes { try DocumentCoding.decode(V.self, from: ByteView($0)) }
    } catch {
      throw StoreError(
        .undecodableValue, "cannot read '\(key)' of bucket '\(bucket)': it is no \(V.self)",
        cause: error)
    }
  }

  /// Visits the pairs of `bucket` whose keys begin with `prefix`, until `body` returns false.
  ///
  /// The pairs are visited in the order of the keys' bytes.
  public func forEach(
    in bucket: String, prefix: [UInt8] = [], _ body: (_ key: [UInt8], _ value: Data) throws -> Bool
  ) throws {
    let core = access.core
    try Buckets.checkName(bucket)
    let cursor = try Cursor(core.store.trees.buckets, in: core.transaction)
    let start = BucketKey.prefix(bucket: bucket)
    try cursor.walk(.prefix(start + prefix)) { key, value in
      try body(
        Array(key.dropFirst(start.count)), Data(try Checksum.unsealed(key: key, body: value)))
    }
  }

  /// The names of all buckets, except those of the library.
  public func bucketNames() throws(StoreError) -> [String] {
    let core = access.core
    let names: [String] = try wrappingErrors {
      try core.transaction.leadingNames(of: core.store.trees.buckets) { key in
        guard let name = BucketKey.split(key)?.bucket else {
          throw FormatError("a bucket's key has no name")
        }
        return name
      }
    }
    return names.filter { !Buckets.isOfLibrary($0) }
  }
}

extension WriteTransaction {
  /// Stores `data` under `key`.
  public mutating func put(_ data: Data, for key: String, in bucket: String) throws(StoreError) {
    try put(data, for: Array(key.utf8), in: bucket)
  }

  /// Stores `data` under a key of bytes.
  public mutating func put(_ data: Data, for key: [UInt8], in bucket: String) throws(StoreError) {
    try Buckets.checkOfProgram(bucket)
    try core.put(Array(data), for: key, in: bucket)
  }

  /// Stores `value` under `key`, as a document.
  public mutating func put<V: Encodable>(
    _ value: V, for key: String, in bucket: String
  ) throws(StoreError) {
    var document = DocumentWriter()
    do {
      try DocumentCoding.encode(value, into: &document)
    } catch {
      throw StoreError(
        .unstorableValue, "cannot keep '\(key)' in bucket '\(bucket)': it cannot be encoded",
        cause: error)
    }
    try put(Data(document.bytes), for: key, in: bucket)
  }

  /// Removes the value under `key`; returns whether it existed.
  @discardableResult
  public mutating func delete(key: String, in bucket: String) throws(StoreError) -> Bool {
    try delete(key: Array(key.utf8), in: bucket)
  }

  /// Removes the value under a key of bytes; returns whether it existed.
  @discardableResult
  public mutating func delete(key: [UInt8], in bucket: String) throws(StoreError) -> Bool {
    try Buckets.checkOfProgram(bucket)
    return try core.deleteValue(for: key, in: bucket)
  }
}

/// Keys of the tree `buckets`; see Format.md, "Buckets".
enum Buckets {
  /// The first bytes of the names of the library's own buckets.
  static let libraryPrefix = "lodestore."

  static func isOfLibrary(_ bucket: String) -> Bool { bucket.utf8.starts(with: libraryPrefix.utf8) }

  /// Throws when programs cannot write a bucket with this name.
  static func checkOfProgram(_ bucket: String) throws(StoreError) {
    try checkName(bucket)
    if isOfLibrary(bucket) { throw .bucketOfLibrary(bucket, prefix: libraryPrefix) }
  }

  static func checkName(_ bucket: String) throws(StoreError) {
    guard (1...BucketKey.longestName).contains(bucket.utf8.count), !bucket.utf8.contains(0) else {
      throw .badBucket(label(Array(bucket.utf8)), size: bucket.utf8.count)
    }
  }

  static func key(_ key: [UInt8], _ bucket: String) throws(StoreError) -> [UInt8] {
    try checkName(bucket)
    guard (1...BucketKey.longestKey).contains(key.count) else {
      throw .badKey(label(key), size: key.count, of: bucket)
    }
    return BucketKey.prefix(bucket: bucket) + key
  }

  /// The first bytes of a name or a key as text, or in hexadecimal if they are not text, for
  /// errors.
  fileprivate static func label(_ bytes: [UInt8]) -> String {
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      return KeyText.detail(of: .data(bytes))
    }
    return KeyText.detail(of: .string(text))
  }
}

extension WriteCore {
  /// Stores a value in a bucket, also in one of the library.
  func put(_ value: [UInt8], for key: [UInt8], in bucket: String) throws(StoreError) {
    let stored = try Buckets.key(key, bucket)
    try checkBucketValue(value.count, key, bucket)
    countChange()
    let body = Checksum.sealed(key: stored, content: value)
    try digestBucketPair(stored, body)
    try wrappingErrors { try writing.put(stored, body, in: store.trees.buckets) }
  }

  /// Removes a value from a bucket, also from one of the library; returns whether it existed.
  func deleteValue(for key: [UInt8], in bucket: String) throws(StoreError) -> Bool {
    let stored = try Buckets.key(key, bucket)
    countChange()
    try digestBucketPair(stored, nil)
    return try wrappingErrors { try writing.delete(stored, in: store.trees.buckets) }
  }

  /// Updates the digest of the buckets before a pair is stored or, for a `nil` body, removed.
  fileprivate func digestBucketPair(_ key: [UInt8], _ body: [UInt8]?) throws(StoreError) {
    let sum = ContentLedger.of(self).sum(of: .buckets)
    func number(_ body: ByteView) -> ContentDigest? {
      key._withBytes { ContentDigest(of: .buckets, key: $0, body: body) }
    }
    try wrappingErrors {
      if let old = try transaction.get(key, in: store.trees.buckets).flatMap(number) {
        sum.change -= old
      }
      if let new = body?._withBytes(number) { sum.change += new }
    }
  }

  fileprivate func checkBucketValue(
    _ count: Int, _ key: [UInt8], _ bucket: String
  ) throws(StoreError) {
    let limit = store.options.recordSizeLimitInBytes
    guard count <= limit else {
      throw .bucketValueTooLarge(count, limit: limit, key: Buckets.label(key), bucket: bucket)
    }
  }
}
