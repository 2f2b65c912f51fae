package import EntityStore

/// One address, answered without a server.
///
/// `kvdump serve STORE --get ADDRESS` prints the answer. The forms are the same as those of the
/// server.
package struct PrintedAddress: Sendable {
  /// The HTTP status of the answer, such as 200 or 404.
  package let status: Int
  private let body: TwinPart

  /// Answers `address`, such as `/Pod.json?license=MIT`.
  ///
  /// - Parameter path: the path of the file, for people.
  package init(_ address: String, of store: DynamicStore, path: String) {
    let responder = Responder(maker: PageMaker(store: store, path: path))
    let response =
      Address(address).map { responder.respond(to: $0) }
      ?? Response(400, "\(AddressError.malformed.message).")
    status = response.status
    body = response.body
  }

  /// Passes the bytes of the answer to `write`, in parts.
  package func forEachPart(_ write: ([UInt8]) throws -> Void) throws {
    var part = body
    try write(part.bytes)
    while let read = part.next {
      part = try read()
      try write(part.bytes)
    }
  }
}
