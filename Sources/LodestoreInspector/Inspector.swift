#if Inspector
  public import EntityStore

  /// The pages of a store on this machine, which a program starts while it is developed.
  ///
  ///     #if DEBUG
  ///       let inspector = try await Inspector.start(store)
  ///       print(inspector.address)   // http://127.0.0.1:40213/?key=4f1c…
  ///     #endif
  ///
  /// The address opens the pages in a browser of the same user. The server accepts connections of
  /// this machine only, and answers only requests with the key. Each page is one short read of the
  /// store, and nothing can be changed. An open page follows the commits of all processes.
  ///
  /// The pages show the records in their stored form, whatever the types of the program are. The
  /// store must stay open until ``stop()`` returns.
  public final class Inspector: Sendable {
    private let server: PageServer

    /// The address with the key, which gives access to all records.
    public var address: String {
      "http://127.0.0.1:\(server.gate.port)/?\(Gate.parameter)=\(server.gate.key.text)"
    }

    private init(_ server: PageServer) { self.server = server }

    /// Starts to serve the pages of a store.
    ///
    /// - Parameter port: the port of the address; 0, the default, for any free port.
    /// - Throws: an error of the system if the port is in use.
    public static func start(_ store: Store, port: UInt16 = 0) async throws -> Inspector {
      try await start(DynamicStore(store), path: store.path, port: port)
    }

    /// Starts to serve the pages of a store that a tool has opened.
    ///
    /// - Parameters:
    ///   - path: the path of the file, for people.
    ///   - allowsWrites: whether the pages offer changes, each after a question.
    package static func start(
      _ store: DynamicStore, path: String, port: UInt16, allowsWrites: Bool = false
    ) async throws -> Inspector {
      let responder = Responder(
        maker: PageMaker(store: store, path: path), allowsWrites: allowsWrites)
      return Inspector(try await PageServer.start(responder, port: port))
    }

    /// Returns when the server has ended, because of ``stop()`` or an error.
    public func wait() async throws { try await server.wait() }

    /// Ends all connections and the server.
    public func stop() async { await server.stop() }
  }
#endif
