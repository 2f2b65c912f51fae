/// The meaning of the answers of S3-compatible services.
///
/// The codes are those of Amazon's "Error responses" and of SeaweedFS, moto and rclone.
enum S3Answers {
  /// The largest object that one request can write.
  static let objectByteLimit: UInt64 = 5 << 30

  /// An answer with a status that is no success.
  struct Refusal: Sendable {
    var status: Int
    /// The service's code; `nil` if the answer has no XML with one.
    var code: String?
    var message: String?

    init(status: Int, body: [UInt8]) {
      self.status = status
      guard let root = try? MarkupReader.root(of: body), root.name == "Error" else { return }
      code = root.text(of: "Code")
      message = root.text(of: "Message")
    }

    /// The facts for a message.
    var words: String {
      "the service answered \(status)" + (code.map { " \($0)" } ?? "")
        + (message.map { ": \($0)" } ?? "")
    }
  }

  /// The kind of the error that a refusal means.
  static func kind(
    of refusal: Refusal, _ operation: StorageError.Operation, isConditional: Bool,
    retryAfter: Duration?
  ) -> StorageError.Kind {
    switch (refusal.status, refusal.code) {
    case (_, "NoSuchBucket"?): .noBucket
    case (_, "SlowDown"?), (429, _): .throttled(retryAfter: retryAfter)
    case (404, "NoSuchKey"?): .notFound
    // The parts of an upload are gone, so the file is sent again.
    case (404, "NoSuchUpload"?): .cut
    // A head has no body, so its code is unknown.
    case (404, nil) where operation == .head: .notFound
    case (412, _): .conditionFailed
    // A service answers this while another write of the key is in progress.
    case (409, _): .conflictAgain
    case (416, _): .badRange
    case (413, _), (_, "EntityTooLarge"?): .tooLarge
    case (501, _), (405, _), (_, "NotImplemented"?): .unsupported
    // The service closed the connection or received other bytes than were signed.
    case (400, "RequestTimeout"?), (400, "BadDigest"?), (400, "XAmzContentSHA256Mismatch"?),
      (400, "IncompleteBody"?), (408, _):
      .cut
    case (400, "ExpiredToken"?), (400, "InvalidToken"?), (401, _), (403, _): .denied
    case (503, _) where retryAfter != nil: .throttled(retryAfter: retryAfter)
    case (500..., _): .unavailable
    default: .badAnswer
    }
  }

  /// The next step after a refusal, if there is a better one than that of its kind.
  static func advice(
    _ refusal: Refusal, _ operation: StorageError.Operation, region: String?
  ) -> String? {
    switch (refusal.status, refusal.code) {
    case (_, "SignatureDoesNotMatch"?): "check the secret key, and the region"
    case (_, "InvalidAccessKeyId"?): "check the access key, and that it belongs to this service"
    case (_, "ExpiredToken"?): "renew the temporary credentials"
    case (_, "RequestTimeTooSkewed"?): "set the clock of this machine"
    case (403, _) where operation == .get || operation == .head:
      "check the credentials; without the permission s3:ListBucket a missing object is denied too"
    case (301, _), (307, _), (308, _), (400, "AuthorizationHeaderMalformed"?):
      region.map { "use the region '\($0)' and its endpoint" }
        ?? "use the endpoint and the region of the bucket"
    case (404, nil): "check the address: an S3-compatible service names the reason in XML"
    default: nil
    }
  }

  // MARK: Lists

  /// The reason why an answer is no list.
  struct BadList: Error, Hashable {
    var reason: String
  }

  /// Reads the XML of ListObjectsV2, whose keys must begin with `start` and ascend.
  ///
  /// - Parameters:
  ///   - start: The place's prefix and the requested one.
  ///   - dropped: The number of bytes at the beginning of each key that belong to the place.
  ///   - after: The key after which the list begins, with the place's prefix.
  static func page(
    _ body: [UInt8], start: String, dropping dropped: Int, after: String?
  ) throws(BadList) -> ObjectPage {
    let root: MarkupElement
    do {
      root = try MarkupReader.root(of: body)
    } catch {
      throw BadList(reason: "no XML: \(error.reason) at byte \(error.position)")
    }
    guard root.name == "ListBucketResult", let isTruncated = root.text(of: "IsTruncated"),
      ["true", "false"].contains(isTruncated)
    else { throw BadList(reason: "no ListBucketResult with IsTruncated") }
    var last = after
    var entries: [ObjectPage.Entry] = []
    for element in root.children where element.name == "Contents" {
      guard let key = element.text(of: "Key"), let size = element.text(of: "Size"),
        let count = UInt64(size), let tag = element.text(of: "ETag"), !tag.isEmpty
      else { throw BadList(reason: "an entry without Key, Size or ETag") }
      guard key.utf8.starts(with: start.utf8) else {
        throw BadList(reason: "the key '\(key)', expected one that begins with '\(start)'")
      }
      if let last, !last.utf8.lexicographicallyPrecedes(key.utf8) {
        throw BadList(
          reason: "the key '\(key)' after '\(last)'; a list of one folder must be in order")
      }
      last = key
      // Programs make objects whose keys end in a slash, to show folders.
      guard !key.hasSuffix("/"),
        let shown = String(validating: key.utf8.dropFirst(dropped), as: UTF8.self)
      else { continue }
      entries.append(
        ObjectPage.Entry(key: shown, head: ObjectHead(byteCount: count, tag: ObjectTag(tag))))
    }
    let isLast = isTruncated == "false"
    guard isLast || !entries.isEmpty else {
      throw BadList(reason: "an empty page that is not the last")
    }
    return ObjectPage(entries: entries, isLast: isLast)
  }
}
