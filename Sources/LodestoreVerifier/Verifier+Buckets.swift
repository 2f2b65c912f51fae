import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks Format.md, "Buckets".
  func verifyBuckets() throws {
    let name = TreeName.buckets.text
    guard let tree = trees[name] else { return }
    let before = findings.count
    var digest = ContentDigest()
    try walk(tree) { key, body in
      if let number = ContentDigest(of: .buckets, key: key, body: body) { digest += number }
      if let (bucket, userKey) = BucketKey.split(key) {
        if userKey.count > BucketKey.longestKey {
          add(
            .bucket, tree: name, subject: bucket, key: key,
            "the key has \(userKey.count) bytes, at most \(BucketKey.longestKey)")
        }
      } else {
        add(
          .bucket, tree: name, key: key,
          "the key is not a bucket's name, a zero byte and a key in it")
      }
      do throws(FormatError) {
        _ = try Checksum.unsealed(key: key, body: body)
      } catch {
        add(.bucket, error.rule, tree: name, key: key, "\(error)")
      }
    }
    if findings.count == before { digests[.buckets] = digest }
  }
}
