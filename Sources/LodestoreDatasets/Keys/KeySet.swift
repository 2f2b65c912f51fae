package import Foundation
internal import LodestoreJSON

/// The content of `keys/N.json`: public keys, any one of which may sign manifests and the next key
/// set.
///
/// Set 1 is signed by one of its own keys, every later set by one key of the previous set. See
/// Format.md, "Published datasets".
package struct KeySet: Sendable, Hashable {
  /// The version of key sets that this library reads and writes.
  static let version: UInt64 = 1
  /// The maximum number of keys in a set.
  static let keyLimit = 16
  /// The maximum number of key sets in a publisher's chain of sets.
  static let numberLimit: UInt64 = 10_000

  /// The dataset's name.
  package let name: String
  /// The set's number, counted from 1 without gaps.
  package let number: Int
  /// The date when the publisher made the set.
  package let createdAt: Date
  package let keys: [PublicKey]

}

extension KeySet {
  /// Reads a payload.
  ///
  /// Only its signature shows whether it can be trusted.
  init(payload: [UInt8]) throws(DatasetError) {
    let object = try SignedObject(parsing: payload, of: .keySet)
    try object.requireVersion(Self.version)
    name = try object.datasetName("name")
    number = Int(try object.number("number", in: 1...Self.numberLimit))
    createdAt = try object.date("createdAt")
    var keys: [PublicKey] = []
    for key in try object.elements("keys", atMost: Self.keyLimit) {
      let text = try key.text("publicKey", atMost: 44)
      guard let key = PublicKey(text) else {
        throw .malformed(
          .keySet, at: "keys.\(keys.count).publicKey", found: "'\(DatasetError.visible(text))'",
          expected: "an Ed25519 key of 32 bytes in Base64")
      }
      guard !keys.contains(key) else {
        throw .malformed(
          .keySet, at: "keys.\(keys.count)", found: "key \(key.shortID) a second time",
          expected: "each key once")
      }
      keys.append(key)
    }
    guard !keys.isEmpty else {
      throw .malformed(.keySet, at: "keys", found: "no key", expected: "1 to \(Self.keyLimit)")
    }
    self.keys = keys
  }

  /// The payload to sign.
  var payload: [UInt8] {
    var writer = JSONWriter(.pretty)
    writer.beginObject()
    writer.number("version", Self.version)
    writer.text("name", name)
    writer.number("number", UInt64(number))
    writer.text("createdAt", ISO8601Text.text(createdAt) ?? "")
    writer.beginArray("keys")
    for key in keys {
      writer.beginObject()
      writer.text("publicKey", key.description)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// Signs the set with one or more keys and returns the content of its file.
  package func signed(by keys: [SigningKey]) throws(DatasetError) -> [UInt8] {
    try SignedEnvelope(payload, of: .keySet, signedBy: keys).bytes
  }
}
