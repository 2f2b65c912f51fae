import LodestoreBytes

extension EntityDescription {
  package var layoutsByNumber: [UInt16: RecordLayout] {
    Dictionary(layouts.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension [UInt16: RecordLayout] {
  /// The view of a record; `nil` if its layout is unknown or its lengths are wrong.
  package func view(of body: ByteView) -> RecordView? {
    guard let number = try? RecordLayout.layoutNumber(of: body), let layout = self[number]
    else { return nil }
    return try? RecordView(body, layout: layout)
  }
}
