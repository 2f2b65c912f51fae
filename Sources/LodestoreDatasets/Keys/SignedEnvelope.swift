internal import LodestoreJSON

/// A signed payload: the JSON envelope of DSSE (secure-systems-lab/dsse, version 1.0).
///
/// The envelope has the payload and the signatures in Base64. A signature covers the payload's type
/// and its exact bytes. A reader therefore need not canonicalize the payload, and cannot accept a
/// payload as another type of payload.
package struct SignedEnvelope: Sendable {
  /// One signature of the payload.
  struct Signature: Sendable, Hashable {
    /// The id of the signing key.
    ///
    /// The id only says which key to try first; it is not covered by the signature.
    let keyID: String
    let bytes: [UInt8]
  }

  /// The maximum number of signatures in an envelope.
  static let signatureLimit = 16

  let file: SignedFile
  let payload: [UInt8]
  let signatures: [Signature]

  /// Signs a payload with one or more keys.
  init(_ payload: [UInt8], of file: SignedFile, signedBy keys: [SigningKey]) throws(DatasetError) {
    self.file = file
    self.payload = payload
    let bytes = Self.signedBytes(payload, type: file.payloadType)
    var signatures: [Signature] = []
    for key in keys {
      signatures.append(Signature(keyID: key.publicKey.id, bytes: try key.signature(of: bytes)))
    }
    self.signatures = signatures
  }

  /// Reads an envelope without verifying it.
  package init(reading bytes: some Collection<UInt8>, as file: SignedFile) throws(DatasetError) {
    let object = try SignedObject(parsing: bytes, of: file)
    self.file = file
    let type = try object.text("payloadType", atMost: 128)
    guard type == file.payloadType else {
      throw .malformed(
        file, at: "payloadType", found: "'\(DatasetError.visible(type))'",
        expected: "'\(file.payloadType)'")
    }
    payload = try object.bytes("payload", atMost: file.byteLimit)
    let nodes = try object.elements("signatures", atMost: Self.signatureLimit)
    var signatures: [Signature] = []
    for node in nodes {
      signatures.append(
        Signature(
          keyID: try node.optionalText("keyid", atMost: 128) ?? "",
          bytes: try node.bytes("sig", atMost: 256)))
    }
    self.signatures = signatures
  }

  /// The content of the envelope's file.
  package var bytes: [UInt8] {
    var writer = JSONWriter(.pretty)
    writer.beginObject()
    writer.text("payloadType", file.payloadType)
    writer.text("payload", Base64Text.encoded(payload))
    writer.beginArray("signatures")
    for signature in signatures {
      writer.beginObject()
      writer.text("keyid", signature.keyID)
      writer.text("sig", Base64Text.encoded(signature.bytes))
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  /// Returns the payload after one of `keys` has verified its signature.
  ///
  /// - Parameter words: The keys in words, for the message.
  func payload(verifiedBy keys: [PublicKey], _ words: String) throws(DatasetError) -> [UInt8] {
    let bytes = Self.signedBytes(payload, type: file.payloadType)
    var refused: PublicKey?
    for signature in signatures {
      guard let key = keys.first(where: { $0.id == signature.keyID }) else { continue }
      if try key.verifies(signature.bytes, of: bytes) { return payload }
      refused = key
    }
    if let refused { throw .wrongSignature(file, key: refused) }
    throw .unsigned(file, by: words)
  }

  /// Returns whether one of `keys` has signed the payload.
  func isVerified(by keys: [PublicKey]) throws(DatasetError) -> Bool {
    do throws(DatasetError) {
      _ = try payload(verifiedBy: keys, "")
      return true
    } catch  where error.code == .untrusted {
      return false
    }
  }

  /// The bytes to sign: the pre-authentication encoding of DSSE.
  static func signedBytes(_ payload: [UInt8], type: String) -> [UInt8] {
    Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
  }
}
