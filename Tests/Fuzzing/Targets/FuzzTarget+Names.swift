import LodestoreFormat

extension FuzzTarget {
  /// Names of trees, and keys of the trees that are no index: each accepted one is written in the
  /// same form.
  static let names = FuzzTarget("names", longestInput: 520) {
    let names: [TreeName] = [
      .header, .records(entity: 1), .index(entity: 4_294_967_295, index: 2),
      .links(relationship: 1, side: .from), .order(relationship: 1, side: .to),
      .elements(entity: 3, index: 1), .history,
    ]
    let keys: [HistoryKey] = [
      .part(write: 7, part: 1), .image(entity: 1, id: 2, write: 3),
      .tombstone(entity: 1, id: 2, write: 3), .consumer("list"), .purged,
    ]
    let imports: [ImportKey] = [
      .state, .memory([UInt8](repeating: 9, count: 32)), .report(run: 1), .seen(page: 2), .basis,
    ]
    return names.map { Array($0.text.utf8) } + keys.map(\.bytes)
      + imports.map { $0.bytes(name: "pods") } + [
        BucketKey.prefix(bucket: "settings") + [1, 2], CatalogueKey.entity(5),
        CatalogueKey.relationship(1),
        HeaderField.changes(entity: 12), LinkOrderKey.link(1, 2), LinkOrderKey.position(1, 2),
        FormatRequirement(lowestReader: 1, lowestWriter: 3).bytes,
      ]
  } run: { bytes in
    func isSame(_ written: some Sequence<UInt8>) -> Bool { written.elementsEqual(bytes) }
    if let text = String(validating: bytes, as: UTF8.self), let name = TreeName(text) {
      require(name.text == text, "the tree \(text) is called \(name.text)")
    }
    if let key = HistoryKey(bytes) { require(isSame(key.bytes), "\(key)") }
    if let (name, key) = ImportKey.split(bytes) { require(isSame(key.bytes(name: name)), "\(key)") }
    if let (name, key) = BucketKey.split(bytes) {
      require(isSame(BucketKey.prefix(bucket: name) + key), name)
    }
    if let number = CatalogueKey.entityNumber(bytes) {
      require(isSame(CatalogueKey.entity(number)), "\(number)")
    }
    if let number = CatalogueKey.relationshipNumber(bytes) {
      require(isSame(CatalogueKey.relationship(number)), "\(number)")
    }
    if let number = HeaderField.changedEntity(bytes) {
      require(isSame(HeaderField.changes(entity: number)), "\(number)")
    }
    switch LinkOrderKey.content(bytes) {
    case .link(let owner, let other): require(isSame(LinkOrderKey.link(owner, other)), "\(owner)")
    case .position(let owner, let place):
      require(isSame(LinkOrderKey.position(owner, place)), "\(owner)")
    case nil: break
    }
    _ = try? Checksum.unsealed(key: bytes, body: bytes)
    require(
      isSame(try FormatRequirement(bytes: bytes).bytes), "the requirement is written in another way"
    )
  }
}
