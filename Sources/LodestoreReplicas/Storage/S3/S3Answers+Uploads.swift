/// The answers to the calls of an upload in parts.
extension S3Answers {
  /// An upload that was begun, and was neither completed nor aborted.
  struct OpenUpload: Sendable, Hashable {
    /// The key with the prefix of the place.
    var key: String
    var id: String
    /// The time of the beginning in seconds since 1970.
    var start: Int
  }

  /// One page of a list of open uploads.
  struct UploadPage: Sendable {
    var uploads: [OpenUpload] = []
    /// The key and the id after which the next page begins; `nil` on the last page.
    var next: (key: String, id: String)?
  }

  /// Reads the id of an upload that was begun; `nil` if the answer has none.
  static func uploadID(_ body: [UInt8]) -> String? {
    guard let root = try? MarkupReader.root(of: body),
      root.name == "InitiateMultipartUploadResult", let id = root.text(of: "UploadId"), !id.isEmpty
    else { return nil }
    return id
  }

  /// The answer to the completion of an upload.
  enum Completion: Sendable {
    case tag(ObjectTag)
    /// A service that has begun its answer with the status 200 may still fail.
    case refused(Refusal)
    case unreadable
  }

  /// Reads the answer to CompleteMultipartUpload.
  ///
  /// The root is `CompleteMultipartUploadResult` in the documentation of S3. moto 5.2.0 and 5.2.1
  /// name it after the call, as `CompleteMultipartUploadResponse`.
  static func completion(_ body: [UInt8]) -> Completion {
    guard let root = try? MarkupReader.root(of: body) else { return .unreadable }
    if root.name == "Error" {
      return .refused(Refusal(status: status(ofCode: root.text(of: "Code") ?? ""), body: body))
    }
    guard root.name.hasPrefix("CompleteMultipartUpload"), let tag = root.text(of: "ETag"),
      !tag.isEmpty
    else { return .unreadable }
    return .tag(ObjectTag(tag))
  }

  /// The status that an answer with an error code would have had.
  private static func status(ofCode code: String) -> Int {
    switch code {
    case "NoSuchUpload", "NoSuchBucket", "NoSuchKey": 404
    case "AccessDenied": 403
    case "PreconditionFailed": 412
    case "OperationAborted", "ConditionalRequestConflict": 409
    case "EntityTooSmall", "InvalidPart", "InvalidPartOrder", "InvalidRequest", "MalformedXML",
      "RequestTimeout":
      400
    case "SlowDown", "ServiceUnavailable": 503
    default: 500
    }
  }

  /// Reads the XML of ListMultipartUploads; `nil` if the answer is no such list.
  static func uploads(_ body: [UInt8]) -> UploadPage? {
    guard let root = try? MarkupReader.root(of: body), root.name == "ListMultipartUploadsResult"
    else { return nil }
    var page = UploadPage()
    for element in root.children where element.name == "Upload" {
      // An upload without a readable time is left to the rules of the bucket.
      guard let key = element.text(of: "Key"), let id = element.text(of: "UploadId"),
        let text = element.text(of: "Initiated"), let start = RequestText.seconds(text)
      else { continue }
      page.uploads.append(OpenUpload(key: key, id: id, start: start))
    }
    if root.text(of: "IsTruncated") == "true", let key = root.text(of: "NextKeyMarker"),
      !key.isEmpty
    {
      page.next = (key, root.text(of: "NextUploadIdMarker") ?? "")
    }
    return page
  }
}
