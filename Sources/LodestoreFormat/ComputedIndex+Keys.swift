import LodestoreBytes

extension EntityDescription.ComputedIndex {
  /// Calls `body` with the key of each entry of a record, without the record's id.
  ///
  /// An element that occurs several times is visited several times. Search indexes and
  /// vector indexes have entries of another form, and none here.
  @inline(__always)
  package func forEachKey(
    in view: RecordView, _ entity: EntityDescription, _ encoder: inout KeyEncoder,
    _ body: (ByteView) -> Void
  ) throws(FormatError) {
    switch kind {
    case .search, .vector: return
    case .place:
      guard case .at(let latitude, let longitude) = try IndexedPlace(of: self, in: view, entity)
      else { return }
      let position = PlaceCell(latitude: latitude, longitude: longitude).positions.lowerBound
      encoder.reset()
      // A record id is appended as eight bytes, as a position is.
      encoder.append(recordID: position)
      body(encoder.bytes)
    case .elements:
      let slot = view.layout.slotIndex(ofAttribute: attribute).map { view.layout.slots[$0] }
      if let slot {
        if view.isNull(slot) { return }
        try forEachElement(of: view.variableBytes(slot), &encoder, body)
      } else if case .document(let bytes) = entity.attribute(number: attribute)?.initial {
        try bytes._withBytes { (bytes) throws(FormatError) in
          try forEachElement(of: bytes, &encoder, body)
        }
      }
    }
  }

  /// The keys of the entries of a record without the record's id, each once, in ascending order.
  package func keys(
    in view: RecordView, _ entity: EntityDescription
  ) throws(FormatError) -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    var encoder = KeyEncoder()
    try forEachKey(in: view, entity, &encoder) { keys.insert(Array($0)) }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private func forEachElement(
    of document: ByteView, _ encoder: inout KeyEncoder, _ body: (ByteView) -> Void
  ) throws(FormatError) {
    try DocumentElements.forEach(at: path, of: document) { (element) throws(FormatError) in
      if try DocumentElements.encode(element, into: &encoder) { body(encoder.bytes) }
    }
  }
}
