extension Value {
  /// The JSON value null, as a required attribute holds it.
  package static let nullDocument = Value.document(Document.null.encoded())
}
