internal import LMDB
public import LodestoreEssentials
internal import LodestoreFormat

/// A position in the history of one store: after one of its writes.
///
/// Store a token, encoded or as text, and query later changes with it. Tokens of one store are
/// ordered by its writes. The order of tokens of different stores has no meaning.
public struct HistoryToken: Sendable, Hashable, Codable, Comparable {
  /// The UUID in the header of the file.
  public let storeID: UUID
  /// The number of the write in the history, counted from 1; 0 before the first write.
  public let number: UInt64

  /// Returns whether `a` belongs to an earlier write.
  @_documentation(visibility: internal)
  public static func < (a: HistoryToken, b: HistoryToken) -> Bool {
    a.storeID == b.storeID ? a.number < b.number : a.storeID.uuidString < b.storeID.uuidString
  }
}

extension HistoryToken: LosslessStringConvertible {
  /// The number of the write followed by the store's UUID: `7-C0FFEE00-…`.
  ///
  /// The text contains only digits, letters from A to F and `-`. A header field, an address or a
  /// file name can therefore contain the text.
  public var description: String { "\(number)-\(storeID.uuidString)" }

  /// Parses the text of a ``description``; returns `nil` for other text.
  ///
  /// The range of the store's history is checked when the token is used.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", maxSplits: 1)
    guard let first = parts.first, let last = parts.last, let number = UInt64(first),
      let storeID = UUID(uuidString: String(last))
    else { return nil }
    self.init(storeID: storeID, number: number)
    guard self.description == description else { return nil }
  }
}

extension HistoryLog {
  /// Returns the UUID of the file.
  func storeID() throws(StoreError) -> UUID {
    try wrappingErrors {
      guard
        let bytes = try core.transaction.get(HeaderField.uuid.key, in: core.store.trees.header),
        bytes.count == 16
      else { throw FormatError("the header has no 16-byte field 'uuid'") }
      var uuid = UUID_NULL
      withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
      return UUID(uuid: uuid)
    }
  }

  /// Returns the token after the last recorded write.
  func token() throws(StoreError) -> HistoryToken {
    HistoryToken(storeID: try storeID(), number: try lastNumber())
  }

  /// Throws unless all writes since `token` are in the history.
  ///
  /// - Parameter includesWrite: whether the write of `token` itself must be in the history too.
  func check(_ token: HistoryToken, includesWrite: Bool = false) throws(StoreError) {
    guard try storeID() == token.storeID else {
      throw StoreError(
        .invalidQuery,
        "cannot use this token: it belongs to the history of another store, \(token.storeID.uuidString)"
      )
    }
    if let purged = try purged(), token.number < purged.number + (includesWrite ? 1 : 0) {
      throw .expired(
        includesWrite ? "of write \(token.number)" : "since write \(token.number)",
        remaining: purged.number + 1)
    }
    let last = try lastNumber()
    guard token.number <= last else {
      throw StoreError(
        .invalidQuery,
        "cannot use this token: it belongs to write \(token.number), and the store's history ends with "
          + "write \(last), so the file is an older copy; read the records again, and continue from the "
          + "token of that read"
      )
    }
  }
}

private let UUID_NULL: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

extension StoreError {
  fileprivate static func expired(_ what: String, remaining: UInt64) -> StoreError {
    StoreError(
      .expiredHistory,
      "cannot find the changes \(what): the history has been purged up to write "
        + "\(remaining - 1); read the records again, and continue from the token of that read")
  }
}
