#if Postgres
  internal import EntityStore
  internal import LodestoreBytes
  internal import LodestoreEssentials
  internal import LodestoreFormat

  /// The facts about a store that decide which writes a database lacks.
  struct SinkFacts {
    let replay: ReplayFacts
    /// The UUID of the store.
    let storeID: String
    /// The mark of the last write; see ``mark(of:in:)``.
    let mark: Int64?

    var lastWrite: UInt64 { replay.lastWrite }

    init(_ snapshot: borrowing Snapshot) throws {
      replay = try snapshot.replayFacts()
      storeID = replay.storeID._withBytes {
        UUIDText.text($0.bigEndianUInt64(at: 0), $0.bigEndianUInt64(at: 8))
      }
      mark = try Self.mark(of: replay.lastWrite, in: snapshot)
    }

    /// The time of a write, as the bits of a `Double`; `nil` for a write that the history lacks.
    ///
    /// Two writes with one number differ in it: that of a store, and that of an older copy of the
    /// store which has gone on by itself.
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
