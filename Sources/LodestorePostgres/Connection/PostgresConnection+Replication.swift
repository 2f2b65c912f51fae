#if Postgres
  internal import CPostgres
  internal import LodestoreBytes

  /// A new replication slot, with the snapshot of the same position.
  struct CreatedSlot: Sendable {
    var position: LogPosition
    /// The name of the snapshot, which the server forgets at the next command of the connection.
    var snapshot: String
  }

  extension PostgresConnection {
    /// The identity of the server's data, which survives a restart and a standby's promotion, and
    /// the end of the server's log.
    func identity() throws(PostgresError) -> (system: String, end: LogPosition) {
      guard let row = try run("IDENTIFY_SYSTEM").first, row.count >= 3, let system = row[0],
        let end = row[2].flatMap({ LogPosition($0) })
      else {
        throw PostgresError(.malformed, "PostgreSQL \(label) did not identify itself")
      }
      return (system, end)
    }

    /// Creates a slot for logical replication and exports the snapshot of its position.
    func createSlot(_ name: String) throws(PostgresError) -> CreatedSlot {
      let rows: [[String?]]
      do throws(PostgresError) {
        rows = try run(
          "CREATE_REPLICATION_SLOT \(SQL.name(name)) LOGICAL pgoutput EXPORT_SNAPSHOT")
      } catch {
        guard error.sqlState == "53400" else { throw error }
        throw PostgresError(
          .badSetup,
          "PostgreSQL \(label) has no free replication slot; drop an unused one, or raise "
            + "max_replication_slots", sqlState: error.sqlState, cause: error)
      }
      guard let row = rows.first, row.count >= 3, let text = row[1],
        let position = LogPosition(text), let snapshot = row[2]
      else {
        throw PostgresError(
          .malformed, "PostgreSQL \(label) created slot '\(name)' without a snapshot")
      }
      return CreatedSlot(position: position, snapshot: snapshot)
    }

    /// Starts to receive the changes after a position.
    func startReplication(
      slot: String, publications: [String], after position: LogPosition
    ) throws(PostgresError) {
      let names = publications.map { SQL.name($0) }.joined(separator: ",")
      try begin(
        "START_REPLICATION SLOT \(SQL.name(slot)) LOGICAL \(position) (proto_version '1', "
          + "publication_names \(SQL.text(names)), binary 'true')", PGRES_COPY_BOTH)
    }

    /// Tells the server the positions up to which changes were received, and are durable.
    func sendStatus(
      received: LogPosition, durable: LogPosition, microseconds: Int64, asksForReply: Bool = false
    ) throws(PostgresError) {
      let message = ReplicationMessage.status(
        received: received, durable: durable, microseconds: microseconds,
        asksForReply: asksForReply)
      let isSent = message.withUnsafeBytes { raw in
        PQputCopyData(
          handle, raw.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(raw.count))
      }
      guard isSent == 1, PQflush(handle) == 0 else { throw lost("report the position") }
    }
  }
#endif
