/// The kinds of signed files that a publisher has.
package enum SignedFile: Sendable {
  case manifest
  case keySet

  /// The payload type, which the signature covers: a signed key set is never taken for a manifest.
  var payloadType: String {
    switch self {
    case .manifest: "application/vnd.lodestore.manifest+json"
    case .keySet: "application/vnd.lodestore.keys+json"
    }
  }

  /// The largest file that is read, in bytes.
  package var byteLimit: Int {
    switch self {
    case .manifest: 1 << 20
    case .keySet: 64 << 10
    }
  }

  /// The words for the file in messages.
  var words: String {
    switch self {
    case .manifest: "the manifest"
    case .keySet: "the key set"
    }
  }
}
