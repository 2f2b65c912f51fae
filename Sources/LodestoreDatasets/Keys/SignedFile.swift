/// The kinds of a publisher's signed files.
package enum SignedFile: Sendable {
  case manifest
  case keySet

  /// The payload type.
  ///
  /// The signature covers the type, so a signed key set is never accepted as a manifest.
  var payloadType: String {
    switch self {
    case .manifest: "application/vnd.lodestore.manifest+json"
    case .keySet: "application/vnd.lodestore.keys+json"
    }
  }

  /// The maximum size of the file in bytes.
  package var byteLimit: Int {
    switch self {
    case .manifest: 1 << 20
    case .keySet: 64 << 10
    }
  }

  /// The name of the file in messages.
  var words: String {
    switch self {
    case .manifest: "the manifest"
    case .keySet: "the key set"
    }
  }
}
