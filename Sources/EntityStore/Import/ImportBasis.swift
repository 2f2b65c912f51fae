internal import LodestoreFormat

/// The facts that decide whether the remembered pages of an import are still valid; see Format.md,
/// "Imports".
///
/// An unchanged page does not imply unchanged records. Other writers may have deleted or changed
/// them, and another schema or closure creates other records from the page. A remembered page is
/// therefore valid only in the current epoch and while the basis is unchanged. When the basis has
/// changed, the next remembered page begins a new epoch. The targets of a page's links are stored
/// with the page: ``RememberedLinks``.
struct ImportBasis: Sendable, Codable, Hashable {
  /// The entity's mark after the import's last change; see Format.md, "Marks".
  ///
  /// When another writer changes or deletes a record of the entity, the mark changes too.
  var mark: UInt64
  /// A checksum of the entity's schema and of the import's rules for creating records from a page.
  var schema: UInt64
  /// ``ImportOptions/version``.
  var version: Int
  var epoch: UInt64
}

extension ImportEngine {
  /// Returns the basis when the pages remembered in its epoch are valid, otherwise nil.
  func intactBasis(_ core: TransactionCore, _ log: ImportLog) throws(StoreError) -> ImportBasis? {
    guard let basis = try log.basis(), basis.version == options.version else { return nil }
    let entity = try self.entity(core)
    guard basis.mark & 1 == 1, basis.mark == (try core.changeMark(of: entity)),
      basis.schema == schemaDigest(of: entity)
    else { return nil }
    return basis
  }

  /// Returns the remembered facts about a page when they are valid, otherwise nil.
  func memory(of page: String, _ core: TransactionCore) throws(StoreError) -> PageMemory? {
    let log = try ImportLog(name, core)
    // A mirror needs the ids of the page's records, so that it does not delete them as unseen.
    guard let found = try log.memory(of: page), strategy != .mirror || found.ids != nil,
      let basis = try intactBasis(core, log), found.epoch == basis.epoch,
      try areIntact(found.links, core)
    else { return nil }
    return found.page
  }

  /// Calls `body`, which writes the pages' records, with the epoch in which the pages are
  /// remembered; then stores the basis.
  ///
  /// - Parameter remembers: whether `body` remembers pages.
  func keepingBasis(
    _ core: WriteCore, _ log: WritableImportLog, remembers: Bool,
    _ body: (_ epoch: UInt64) throws -> Void
  ) throws {
    let intact = try intactBasis(core, log.reads)
    let stored = try log.reads.basis()
    let epoch = intact?.epoch ?? (stored?.epoch ?? 0) &+ 1
    try body(epoch)
    guard intact != nil || remembers else { return }
    let entity = try self.entity(core)
    let basis = ImportBasis(
      mark: try core.setChangeMark(of: entity), schema: schemaDigest(of: entity),
      version: options.version, epoch: epoch)
    if basis != stored { try log.put(basis) }
  }

  private func schemaDigest(of entity: StoredEntity) -> UInt64 {
    var bytes = entity.description.document.encoded()
    // A type that declares only some of the attributes creates other records than a complete one.
    // So the checksum includes the declared attributes.
    for number in entity.encodingLayout.attributes.map(\.number) { bytes += bigEndianBytes(number) }
    bytes += "\(transformation) \(strategy) \(rule.label)".utf8
    for number in (key ?? []).sorted() { bytes += bigEndianBytes(number) }
    bytes += linksText.utf8
    // The hash is cut to six bytes, so that a double can represent the integer exactly.
    return SHA256.hash(bytes).prefix(6).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension MergeRule {
  /// The merge rule as text for the checksum, equal in every process; all closures have the same
  /// text.
  fileprivate var label: String {
    switch self {
    case .fail: "fail"
    case .ignore: "ignore"
    case .replace: "replace"
    // The text is part of a stored digest and must not change, whatever the case is called.
    case .reinsert: "renew"
    case .patch(let numbers): "patch \(numbers.sorted())"
    case .patchGiven: "patchGiven"
    case .policy(let policies): policies.label
    case .closure: "closure"
    }
  }
}

extension AttributePolicies {
  fileprivate var label: String {
    let attributes = byNumber.sorted { $0.key < $1.key }.map { "\($0.key) \(Self.label($0.value))" }
    return "policy \(takesParts) \(Self.label(standard)) \(attributes.joined(separator: " "))"
  }

  private static func label(_ policy: Policy) -> String {
    switch policy {
    case .incoming: "incoming"
    case .stored: "stored"
    case .fail: "fail"
    case .newest(let date): "newest \(date)"
    case .combine: "combine"
    }
  }
}
