internal import LodestoreFormat

/// An attribute whose documents the declared type reads differently than the file describes.
struct ReshapedDocuments {
  /// The number of the attribute.
  var number: UInt32
  var name: String
  /// The declared type; `nil` when the program does not have it.
  var type: (any (Decodable & Sendable).Type)?
  /// The name of the declared type, for messages.
  var shape: String
  /// In words, the differences between the declared type and the stored description because of
  /// which the type may fail to decode a stored document.
  var changes: [String]
}

extension TransactionCore {
  /// Throws when a document of the `reshaped` attributes does not decode as its declared type.
  ///
  /// The declared types decide, and not their outlines: a type may read older forms with a custom
  /// `init(from:)`.
  func checkDocuments(
    of reshaped: [ReshapedDocuments], in entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) {
    guard !reshaped.isEmpty else { return }
    let verifies = verifiesChecksums(of: entity)
    try forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try work?.step()
      let view = try entity.view(bytes, id: id, verifying: verifies)
      for attribute in reshaped {
        guard let type = attribute.type,
          let slot = view.layout.slotIndex(ofAttribute: attribute.number).map({
            view.layout.slots[$0]
          }), !view.isNull(slot)
        else { continue }
        do {
          _ = try DocumentCoding.decode(type, from: view.variableBytes(slot))
        } catch {
          throw .documentsReshaped(entity: entity.name, attribute, recordID: id, error)
        }
      }
    }
  }
}

extension StoreError {
  /// The error for a document in the file that the declared type cannot read.
  fileprivate static func documentsReshaped(
    entity: String, _ attribute: ReshapedDocuments, recordID: UInt64, _ cause: any Error
  ) -> StoreError {
    let label = "\(entity).\(attribute.name)"
    // The message of any other error is left out, because the error of a custom `init(from:)` may
    // contain values.
    let reason = (cause as? DecodingError)?.reasonWithoutValues
    return StoreError(
      .incompatibleSchema,
      "cannot open the store: '\(label)' of record \(recordID) does not decode as "
        + "\(attribute.shape)\(reason.map { ": \($0)" } ?? "") "
        + "(\(attribute.changes.joined(separator: "; "))); give a new member an optional type, and a "
        + "renamed one its old name as coding key, or convert the documents by a stage of a migration: "
        + ".convert(\"\(attribute.name)\", of: \"\(entity)\") { (old: OldType) in … }",
      cause: cause, entity: entity, attribute: attribute.name, recordID: recordID,
      privateDetail: reason == nil ? "\(cause)" : nil)
  }
}

extension DecodingError {
  /// The fault in one line; `nil` when the text comes from outside this library and may contain
  /// values.
  fileprivate var reasonWithoutValues: String? {
    switch self {
    case .keyNotFound(let key, let context):
      let path = (context.codingPath + [key]).map { $0.intValue.map(String.init) ?? $0.stringValue }
      return "'\(path.joined(separator: "."))' is absent, and required"
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      let text = context.debugDescription
      return text.hasPrefix("cannot decode ") ? text : nil
    @unknown default: return nil
    }
  }
}
