#if Postgres
  internal import CPostgres
  internal import LodestoreBytes
  import LodestoreSystem

  extension PostgresConnection {
    /// A message of a copy.
    enum Received {
      case message
      /// Nothing has arrived within the time.
      case nothing
      case end
    }

    /// Runs a `COPY … TO STDOUT`, and calls `body` with each message of its data.
    ///
    /// If `body` throws, the connection cannot be used afterwards.
    func copyOut(_ sql: String, _ body: (ByteView) throws -> Void) throws {
      try begin(sql, PGRES_COPY_OUT)
      while case .message = try receive(milliseconds: nil, body) {}
      try finish(sql)
    }

    /// Runs a `COPY … FROM STDIN` with the bytes that `body` passes to its argument.
    ///
    /// If `body` throws, the connection cannot be used afterwards.
    func copyIn(_ sql: String, _ body: (_ send: @escaping ([UInt8]) throws -> Void) throws -> Void)
      throws
    {
      try begin(sql, PGRES_COPY_IN)
      // A server that takes no rows, because of a lock for example, must not keep the thread.
      guard PQsetnonblocking(handle, 1) == 0 else { throw lost("start a copy") }
      do {
        try body { bytes in
          let isQueued = bytes.withUnsafeBytes { raw in
            PQputCopyData(
              self.handle, raw.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(raw.count))
          }
          guard bytes.isEmpty || isQueued == 1 else { throw self.lost("send rows") }
          try self.flush()
        }
      } catch {
        _ = PQputCopyEnd(handle, "the sender gave up")
        _ = try? finish(sql)
        throw error
      }
      guard PQputCopyEnd(handle, nil) == 1 else { throw lost("end a copy") }
      try flush()
      guard PQsetnonblocking(handle, 0) == 0 else { throw lost("end a copy") }
      try finish(sql)
    }

    /// Waits until the server has taken all bytes.
    private func flush() throws(PostgresError) {
      while true {
        try check()
        let left = PQflush(handle)
        if left == 0 { return }
        guard left > 0 else { throw lost("send rows") }
        // Bytes of the server are read meanwhile: otherwise both sides could wait for each other.
        if try isReady(for: POLLIN | POLLOUT), PQconsumeInput(handle) == 0 {
          throw lost("send rows")
        }
      }
    }

    /// Starts a copy; the next result must have the given status.
    func begin(_ sql: String, _ status: ExecStatusType) throws(PostgresError) {
      guard PQsendQuery(handle, sql) == 1 else { throw lost("start a copy") }
      guard let result = try nextResult() else { throw lost("start a copy") }
      defer { PQclear(result) }
      guard PQresultStatus(result) == status else {
        let failure = error(of: result, sql)
        while let rest = try nextResult() { PQclear(rest) }
        throw failure
      }
    }

    /// Receives the next message of a copy, and calls `body` with it.
    func receive(
      milliseconds: Int32?, _ body: (ByteView) throws -> Void
    ) throws -> Received {
      while true {
        var buffer: UnsafeMutablePointer<CChar>?
        let count = PQgetCopyData(handle, &buffer, 1)
        if count > 0, let buffer {
          defer { PQfreemem(buffer) }
          try body(ByteView(start: UnsafeRawPointer(buffer), count: Int(count)))
          return .message
        }
        if count == -1 { return .end }
        if count < -1 { throw lost("read a copy") }
        guard try waitForInput(milliseconds: milliseconds) else { return .nothing }
        guard PQconsumeInput(handle) == 1 else { throw lost("read a copy") }
      }
    }

    /// Reads the results after the data of a copy.
    func finish(_ sql: String) throws(PostgresError) {
      var failure: PostgresError?
      while let result = try nextResult() {
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
        default: failure = failure ?? error(of: result, sql)
        }
      }
      if let failure { throw failure }
    }
  }
#endif
