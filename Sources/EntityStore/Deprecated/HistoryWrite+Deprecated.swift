// Deprecated names of version 0.1.0 of the library.

/// The former name of ``HistoryWrite``.
@available(*, deprecated, renamed: "HistoryWrite")
public typealias HistoryTransaction = HistoryWrite

extension HistoryChange {
  /// The former name of ``write``.
  @available(*, deprecated, renamed: "write")
  public var transaction: UInt64 { write }
}

extension HistoryQuery {
  /// The former name of ``write(_:)``.
  @available(*, deprecated, renamed: "write(_:)")
  public static func transaction(_ token: HistoryToken) -> HistoryQuery { write(token) }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The former name of `forEachWrite(_:_:)`.
  @available(*, deprecated, renamed: "forEachWrite(_:_:)")
  public func forEachTransaction(
    _ query: HistoryQuery, _ body: (HistoryWrite, _ stop: inout Bool) throws -> Void
  ) throws {
    try forEachWrite(query, body)
  }
}
