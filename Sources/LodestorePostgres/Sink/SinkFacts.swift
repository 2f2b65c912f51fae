#if Postgres
  internal import EntityStore
  internal import LodestoreEssentials

  /// The facts about a store that decide which writes a database lacks.
  struct SinkFacts {
    /// The UUID of the store, in small letters.
    let storeID: String
    /// The number of the last write in the history; 0 before the first.
    let lastWrite: UInt64
    /// The mark of the last write; see ``mark(of:in:)``.
    let mark: Int64?

    init(_ snapshot: borrowing Snapshot) throws {
      let token = try snapshot.historyToken()
      storeID = token.storeID.uuidString.lowercased()
      lastWrite = token.number
      mark = try Self.mark(of: lastWrite, in: snapshot)
    }

    /// The time of a write, as the bits of a `Double`; `nil` for a write that the history lacks.
    ///
    /// An older copy of a store that has gone on by itself has another write with the same number.
    /// The times of the two writes differ.
    static func mark(of number: UInt64, in snapshot: borrowing Snapshot) throws -> Int64? {
      let store = try snapshot.historyToken().storeID.uuidString
      guard number > 0, let token = HistoryToken("\(number)-\(store)") else { return nil }
      do {
        let write = try snapshot.history(HistoryQuery.write(token).withoutChanges()).first
        return (write?.time.timeIntervalSinceReferenceDate).map { Int64(bitPattern: $0.bitPattern) }
      } catch let error as StoreError where error.code == .expiredHistory {
        return nil
      }
    }
  }
#endif
