internal import LodestoreBytes
internal import LodestoreWeb

/// Uploads of files in parts, for files that are too large for one request.
///
/// The object appears when the upload is completed. A reader sees the earlier object, or none,
/// until then. Each part has its own hash in its signature, so the service compares the bytes of a
/// part that arrive. The completion names the service's tag of each part.
///
/// A part that fails is sent again, which changes nothing but the part. After an error the upload
/// is aborted, so that its parts take no space. A killed process leaves its upload, and
/// ``endOldWrites(prefix:olderThan:)`` aborts it later.
extension S3Storage {
  /// The parts of a file; `nil` for content that one request writes.
  ///
  /// A condition on the object in place is checked by the request that writes the object. Not all
  /// services check conditions when an upload is completed, so writes with a condition stay whole.
  func parts(of content: ObjectContent, if condition: PutCondition) -> (String, UploadParts)? {
    guard case .file(let path, _) = content, condition == .none,
      let size = S3Call.size(ofFileAt: path),
      size >= options.partsThreshold,
      let parts = UploadParts(byteCount: size, wishedSize: options.partSize)
    else { return nil }
    return (path, parts)
  }

  package func writeCount(of content: ObjectContent, if condition: PutCondition) -> Int {
    // One request begins the upload, and one completes it.
    parts(of: content, if: condition).map { $0.1.count + 2 } ?? 1
  }

  /// Writes a file in parts; returns `nil` if the service does not support uploads in parts.
  func put(
    _ path: String, in parts: UploadParts, at key: ObjectKey
  ) async throws(StorageError) -> ObjectTag? {
    let earlier = try await tagInPlace(key)
    let begin = S3Call(.put, "POST", key: key.text, query: [(name: "uploads", value: "")])
    let answer: WebRequests.Answer
    do throws(StorageError) {
      answer = try await repeated { () async throws(StorageError) in
        try await self.answer(to: begin)
      }
    } catch {
      if error.kind == .unsupported { return nil }
      throw error.withoutEffect
    }
    guard let id = S3Answers.uploadID(answer.body) else {
      throw failure(.badAnswer, begin, "the answer has no upload id")
    }
    runningUploads.withLock { _ = $0.insert(id) }
    defer { runningUploads.withLock { _ = $0.remove(id) } }
    do throws(StorageError) {
      var tags: [ObjectTag] = []
      for number in 1...parts.count {
        tags.append(try await putPart(number, of: path, parts, id, key))
        options.onPart(number)
      }
      return try await complete(id, key, tags, parts.byteCount, earlier)
    } catch {
      await abort(id, key.text)
      throw error
    }
  }

  private func tagInPlace(_ key: ObjectKey) async throws(StorageError) -> ObjectTag? {
    do throws(StorageError) {
      return try await repeated { () async throws(StorageError) in try await self.head(key).tag }
    } catch {
      if error.kind == .notFound { return nil }
      throw error
    }
  }

  private func putPart(
    _ number: Int, of path: String, _ parts: UploadParts, _ id: String, _ key: ObjectKey
  ) async throws(StorageError) -> ObjectTag {
    let range = parts.range(ofPart: number)
    var call = S3Call(
      .put, "PUT", key: key.text,
      query: [(name: "partNumber", value: "\(number)"), (name: "uploadId", value: id)])
    call.body = .part(
      path: path, offset: Int(range.lowerBound), count: Int(range.upperBound - range.lowerBound))
    guard let hash = S3Call.hash(ofFileAt: path, range) else {
      throw failure(.badRequest, call, "part \(number) of the file '\(path)' cannot be read")
    }
    call.bodyHash = RequestText.hex(hash)
    let request = call
    do throws(StorageError) {
      let answer = try await repeated { () async throws(StorageError) in
        try await self.answer(to: request)
      }
      guard let tag = answer.fields["etag"], !tag.isEmpty else {
        throw failure(.badAnswer, call, "the answer to part \(number) has no ETag")
      }
      return ObjectTag(tag)
    } catch { throw error.withoutEffect }
  }

  /// Makes the parts the object.
  ///
  /// The outcome is unclear after a lost answer. The call is then repeated. If the service does not
  /// know the upload any more, the object in place tells whether an earlier try has completed the
  /// upload.
  private func complete(
    _ id: String, _ key: ObjectKey, _ tags: [ObjectTag], _ byteCount: UInt64,
    _ earlier: ObjectTag?
  ) async throws(StorageError) -> ObjectTag {
    var call = S3Call(.put, "POST", key: key.text, query: [(name: "uploadId", value: id)])
    let parts = tags.enumerated().map { index, tag in
      let text = RequestText.markup(tag.text)
      return "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(text)</ETag></Part>"
    }
    let body = Array(
      ("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        + parts.joined() + "</CompleteMultipartUpload>").utf8)
    call.fields = [(name: "Content-Type", value: "application/xml")]
    call.setBody(body)
    var failures = 0
    var isUnclear = false
    while true {
      do throws(StorageError) {
        return try await completion(of: call)
      } catch {
        isUnclear = isUnclear || error.mayHaveHappened
        failures += 1
        // An answer that cannot be read tells nothing of the outcome, so the call is repeated.
        let isLast =
          !(error.isWorthRepeating || error.kind == .badAnswer) || error.isUnknownUpload
          || failures >= options.partFailureLimit
        guard !isLast else {
          if isUnclear, let head = try? await self.head(key), head.byteCount == byteCount,
            head.tag != earlier
          {
            return head.tag
          }
          var error = error
          error.mayHaveHappened = isUnclear
          throw error
        }
        try await pause(failures, error)
      }
    }
  }

  private func completion(of call: S3Call) async throws(StorageError) -> ObjectTag {
    let answer = try await answer(to: call)
    switch S3Answers.completion(answer.body) {
    case .tag(let tag): return tag
    case .refused(let refusal): throw failure(refusal, answer, call)
    case .unreadable:
      throw failure(
        .badAnswer, call,
        "the answer does not say that the upload is complete; it begins with "
          + "'\(StorageError.visible(String(decoding: answer.body.prefix(200), as: UTF8.self)))'",
        mayHaveHappened: true)
    }
  }

  /// Removes the parts of an upload, also in a cancelled task.
  ///
  /// A failure leaves the parts to ``endOldWrites(prefix:olderThan:)`` or to a rule of the bucket.
  private func abort(_ id: String, _ key: String) async {
    await Task {
      let call = S3Call(.delete, "DELETE", key: key, query: [(name: "uploadId", value: id)])
      _ = try? await self.answer(to: call)
    }.value
  }

  // MARK: Uploads of killed processes

  package func endOldWrites(
    prefix: String, olderThan age: Duration
  ) async throws(StorageError) -> Int {
    var count = 0
    var next: (key: String, id: String)?
    repeat {
      var call = S3Call(.list, "GET", key: "")
      call.shownKey = prefix
      call.byteLimit = MarkupReader.byteLimit
      call.query = [
        (name: "uploads", value: ""), (name: "prefix", value: bucket.prefix + prefix),
        (name: "max-uploads", value: "1000"),
      ]
      if let next {
        call.query.append((name: "key-marker", value: next.key))
        call.query.append((name: "upload-id-marker", value: next.id))
      }
      let answer = try await answer(to: call)
      guard let page = S3Answers.uploads(answer.body) else {
        throw failure(.badAnswer, call, "the answer is no list of uploads")
      }
      // The times of uploads are those of the service's clock.
      let limit = (answer.date ?? options.now()) - Int(age.components.seconds)
      for upload in page.uploads
      where upload.start < limit && upload.key.hasPrefix(bucket.prefix + prefix) {
        guard !runningUploads.withLock({ $0.contains(upload.id) }) else { continue }
        let call = S3Call(
          .delete, "DELETE", key: String(upload.key.dropFirst(bucket.prefix.count)),
          query: [(name: "uploadId", value: upload.id)])
        do throws(StorageError) {
          _ = try await self.answer(to: call)
          count += 1
        } catch {
          // Somebody else has ended the upload.
          guard error.kind == .notFound || error.isUnknownUpload else { throw error }
        }
      }
      next = page.next.flatMap { $0 == next ?? ("", "") ? nil : $0 }
    } while next != nil
    return count
  }

  // MARK: Repetitions

  /// Repeats a request whose repetition changes nothing.
  private func repeated<R>(
    _ body: () async throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    var failures = 0
    while true {
      do throws(StorageError) {
        return try await body()
      } catch {
        failures += 1
        guard error.isWorthRepeating, !error.isUnknownUpload,
          failures < options.partFailureLimit
        else { throw error }
        try await pause(failures, error)
      }
    }
  }

  private func pause(_ failures: Int, _ error: StorageError) async throws(StorageError) {
    var asked: Duration?
    if case .throttled(let retryAfter) = error.kind { asked = retryAfter }
    do {
      try await options.wait(failures, asked)
    } catch {
      throw StorageError(
        .cancelled, .put, key: "", place: place, reason: "the task was cancelled")
    }
  }
}

extension StorageError {
  /// Whether the service does not have the upload of the call.
  fileprivate var isUnknownUpload: Bool { serviceCode == "NoSuchUpload" }

  /// The error of a request that has not changed the object.
  fileprivate var withoutEffect: StorageError {
    var error = self
    error.mayHaveHappened = false
    return error
  }
}
