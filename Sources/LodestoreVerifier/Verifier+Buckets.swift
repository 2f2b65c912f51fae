import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks Format.md, "Buckets".
  mutating func verifyBuckets() throws {
    let name = TreeName.buckets.text
    guard let tree = trees[name] else { return }
    var list = findings
    var digest = ContentDigest()
    try walk(tree) { key, body in
      if let number = ContentDigest(of: .buckets, key: key, body: body) { digest += number }
      if let (bucket, userKey) = BucketKey.split(key) {
        if userKey.count > BucketKey.longestKey {
          list.add(
            Finding(
              .bucket, tree: name, subject: bucket, key: key,
              "the key has \(userKey.count) bytes, at most \(BucketKey.longestKey)"))
        }
      } else {
        list.add(
          Finding(
            .bucket, tree: name, key: key,
            "the key is not a bucket's name, a zero byte and a key in it"))
      }
      do throws(FormatError) {
        _ = try Checksum.unsealed(key: key, body: body)
      } catch {
        list.add(Finding(.bucket, error.rule, tree: name, key: key, "\(error)"))
      }
    }
    if list.count == findings.count { digests[.buckets] = digest }
    findings = list
  }
}
