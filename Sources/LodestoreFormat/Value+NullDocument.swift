extension Value {
  /// JSON's null as the value of a required attribute.
  package static let nullDocument = Value.document(Document.null.encoded())
}
