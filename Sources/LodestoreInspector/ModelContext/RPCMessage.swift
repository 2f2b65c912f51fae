internal import LodestoreJSON
internal import LodestoreRows

/// A request or a notification of a client, as JSON-RPC 2.0 defines them.
struct RPCMessage: Sendable {
  /// The id by which a client finds the response to its request.
  enum ID: Hashable, Sendable {
    case number(Int64)
    case text(String)

    init?(_ value: JSONValue?) {
      switch value {
      case .integer(let number)?: self = .number(number)
      case .string(let text)?: self = .text(text)
      default: return nil
      }
    }

    var cell: Cell {
      switch self {
      case .number(let number): .integer(number)
      case .text(let text): .text(text)
      }
    }
  }

  /// The id of a request; `nil` for a notification.
  var id: ID?
  var method: String
  var params: [String: JSONValue] = [:]

  /// Parses a line.
  ///
  /// - Returns: `nil` for a response, which a server without requests does not need.
  init?(_ line: some Collection<UInt8>) throws(RPCError) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: line)
    } catch {
      throw RPCError(.parseError, "The line is not JSON: \(error)")
    }
    if case .array = value {
      throw RPCError(.invalidRequest, "Batches are not supported; send each message as a line.")
    }
    guard case .object(let members) = value else {
      throw RPCError(.invalidRequest, "A message is a JSON object.")
    }
    let id = ID(members["id"])
    guard members["jsonrpc"]?.stringValue == "2.0" else {
      throw RPCError(.invalidRequest, "The member 'jsonrpc' must be \"2.0\".", id: id)
    }
    guard let method = members["method"] else {
      if members["result"] != nil || members["error"] != nil { return nil }
      throw RPCError(.invalidRequest, "The member 'method' is missing.", id: id)
    }
    guard let method = method.stringValue else {
      throw RPCError(.invalidRequest, "The member 'method' must be a string.", id: id)
    }
    if members["id"] != nil, id == nil {
      throw RPCError(.invalidRequest, "The member 'id' must be an integer or a string.")
    }
    self.id = id
    self.method = method
    switch members["params"] {
    case .object(let params)?: self.params = params
    case nil: break
    case _?: throw RPCError(.invalidParams, "The member 'params' must be an object.", id: id)
    }
  }
}

/// An error response of JSON-RPC.
struct RPCError: Error {
  enum Code: Int, Sendable {
    case parseError = -32_700
    case invalidRequest = -32_600
    case methodNotFound = -32_601
    case invalidParams = -32_602
    case internalError = -32_603
    /// Defined by the Model Context Protocol.
    case unsupportedVersion = -32_022
  }

  var code: Code
  var message: String
  var data = Cell.absent
  /// The id of the request; `nil` if the line has no readable id.
  var id: RPCMessage.ID?

  init(_ code: Code, _ message: String, data: Cell = .absent, id: RPCMessage.ID? = nil) {
    self.code = code
    self.message = message
    self.data = data
    self.id = id
  }
}

/// The lines that a server sends.
enum RPCResponse {
  static func result(_ members: [(String, Cell)], for id: RPCMessage.ID) -> [UInt8] {
    line([("jsonrpc", .text("2.0")), ("id", id.cell), ("result", .object(members))])
  }

  static func error(_ error: RPCError) -> [UInt8] {
    let members = Cell.object([
      ("code", .integer(Int64(error.code.rawValue))), ("message", .text(error.message)),
      ("data", error.data),
    ])
    return line([("jsonrpc", .text("2.0")), ("id", error.id?.cell ?? .null), ("error", members)])
  }

  private static func line(_ members: [(String, Cell)]) -> [UInt8] {
    var bytes: [UInt8] = []
    CellJSON.append(.object(members), to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}
