import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks Format.md, "Digests": that each digest is the digest of the content read from its tree.
  ///
  /// Call it after records, links and buckets, whose checks compute the digests.
  func verifyDigests() throws {
    let name = TreeName.digests.text
    guard let tree = trees[name] else { return }
    var stored: [DigestedContent: ContentDigest] = [:]
    try walk(tree) { key, body in
      guard let content = DigestedContent(key: key), isKnown(content) else {
        return add(.digest, .digestKey, tree: name, key: key, "the key is none of a digest")
      }
      guard let digest = ContentDigest(bytes: body) else {
        return add(
          .digest, .digestLength, tree: name, subject: title(of: content), key: key,
          "has \(body.count) bytes, must have \(ContentDigest.size)")
      }
      stored[content] = digest
    }
    for (content, digest) in digests.sorted(by: { $0.key.key.lexicographicallyPrecedes($1.key.key) }
    ) {
      let kept = stored[content] ?? ContentDigest()
      guard kept != digest else { continue }
      add(
        .digest, .digestContent, tree: name, subject: title(of: content),
        "is \(kept), and the content that was read has \(digest): something was lost, or an earlier "
          + "state was put back")
    }
  }

  private func isKnown(_ content: DigestedContent) -> Bool {
    switch content {
    case .records(let entity):
      describedEntities[entity] != nil || unreadableEntities.contains(entity)
    case .links(let number): relationships.contains { $0.number == number && $0.attribute == nil }
    case .buckets: true
    }
  }

  private func title(of content: DigestedContent) -> String {
    switch content {
    case .records(let entity): describedEntities[entity]?.name ?? "entity \(entity)"
    case .links(let number):
      relationships.first { $0.number == number }.map { title(of: $0) } ?? "relationship \(number)"
    case .buckets: "buckets"
    }
  }
}
