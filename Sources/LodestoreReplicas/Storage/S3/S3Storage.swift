internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestorePages
internal import LodestoreSystem
internal import LodestoreWeb
internal import Synchronization

/// A bucket of an S3-compatible service, or a folder in one.
///
/// Requests are signed by Signature Version 4, with the hash of their content. A call makes one
/// request, except that a large file is written in parts. A second request follows only after two
/// refusals: of the time of this machine's clock, and of expired credentials. After these refusals
/// nothing was written.
///
/// Locks guard the clock's correction and the credentials. Any task may call a storage.
package final class S3Storage: ObjectStorage {
  package struct Options: Sendable {
    /// `nil` for the region in the address, in the environment or in `~/.aws/config`.
    package var region: String?
    /// Whether the bucket is named by the host; `nil` to follow the address.
    package var usesVirtualHost: Bool?
    /// See `WebRequests.Options`.
    package var requestTimeout = Duration.seconds(30)
    package var transferTimeout = Duration.seconds(6 * 3600)
    package var connections = 8
    /// The size in bytes from which a file is written in parts.
    package var partsThreshold: UInt64 = 64 << 20
    /// The size of a part in bytes.
    ///
    /// A part is larger where a file would have more than 10,000 parts. Services refuse parts below
    /// 5 MiB.
    package var partSize: UInt64 = 64 << 20
    /// The number of failures in a row after which the upload of a file in parts is aborted.
    package var partFailureLimit = 32
    /// Waits before a repetition of a part; see ``StorageProbe/wait``.
    package var wait = StorageWait.standard
    /// Called after each part; tests end the process there.
    package var onPart: @Sendable (_ number: Int) -> Void = { _ in }
    /// Numeric addresses by host name, used in place of the system's resolver; for tests.
    package var hostAddresses: [String: String] = [:]
    /// The time of the machine in seconds since 1970; for tests.
    package var now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    package init() {}
  }

  let bucket: S3Place
  private let source: S3CredentialSource
  private let settings: AWSSettings
  private let web: WebRequests
  let options: Options
  /// The ids of uploads in parts that run now.
  let runningUploads = Mutex<Set<String>>([])
  /// The seconds to add to this machine's time.
  private let correction = Mutex(0)
  private let credentials: Mutex<S3Credentials>

  package var place: String { bucket.words }

  /// - Parameters:
  ///   - address: `https://endpoint/bucket/prefix`, `https://bucket.s3.region.amazonaws.com/prefix`
  ///     or `s3://bucket/prefix`. The bucket must exist: some services create a missing one at the
  ///     first write.
  /// - Throws: ``StorageError/Kind/badRequest`` for an address or credentials that cannot be used.
  package convenience init(
    _ address: String, credentials: S3CredentialSource = .automatic, options: Options = Options()
  ) throws(StorageError) {
    try self.init(address, credentials, options, AWSSettings())
  }

  init(
    _ address: String, _ source: S3CredentialSource, _ options: Options, _ settings: AWSSettings
  ) throws(StorageError) {
    func unusable(_ reason: String, _ advice: String) -> StorageError {
      StorageError(.badRequest, .open, key: "", place: address, reason: reason, advice: advice)
    }
    do {
      bucket = try S3Place(
        address, region: options.region,
        addressing: options.usesVirtualHost.map { $0 ? .virtualHost : .path }, settings: settings)
    } catch {
      throw StorageError(
        .badRequest, .open, key: "", place: S3Place.shown(address), reason: error.reason,
        advice: error.advice)
    }
    do {
      credentials = Mutex(try settings.credentials(source))
    } catch { throw unusable(error.reason, error.advice) }
    self.source = source
    self.settings = settings
    self.options = options
    var limits = WebRequests.Options()
    limits.requestTimeout = options.requestTimeout
    limits.transferTimeout = options.transferTimeout
    limits.connections = options.connections
    limits.hostAddresses = options.hostAddresses
    do {
      web = try WebRequests(limits)
    } catch {
      throw unusable(error.message, "enable the package's trait 'Web'")
    }
  }

  // MARK: Calls

  package func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    let call = try S3Call.get(key, range: range, byteLimit: UInt64(max(byteLimit, 0)), in: bucket)
    let answer = try await answer(to: call)
    return StoredObject(
      head: try head(of: answer, call, received: answer.body.count), bytes: answer.body)
  }

  package func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    let call = try S3Call.get(key, range: range, byteLimit: byteLimit, in: bucket)
    let received = Mutex(0)
    let answer = try await answer(to: call) { piece in
      received.withLock { $0 += piece.count }
      try take(Array(piece))
    }
    return try head(of: answer, call, received: received.withLock { $0 })
  }

  package func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    let call = S3Call(.head, "HEAD", key: key.text)
    return try head(of: try await answer(to: call), call)
  }

  package func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    if let (path, parts) = parts(of: content, if: condition),
      let tag = try await put(path, in: parts, at: key)
    {
      return tag
    }
    let call = try S3Call.put(content, at: key, if: condition, in: bucket)
    let answer = try await answer(to: call)
    guard let tag = answer.fields["etag"], !tag.isEmpty else {
      throw failure(.badAnswer, call, "the answer has no ETag", mayHaveHappened: true)
    }
    return ObjectTag(tag)
  }

  package func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    var call = S3Call(.list, "GET", key: "")
    let (start, after) = (bucket.prefix + prefix, after.map { bucket.prefix + $0 })
    call.shownKey = prefix
    call.byteLimit = MarkupReader.byteLimit
    call.query = [
      (name: "list-type", value: "2"), (name: "max-keys", value: "\(min(max(limit, 1), 1000))"),
      (name: "prefix", value: start),
    ]
    if let after { call.query.append((name: "start-after", value: after)) }
    let answer = try await answer(to: call)
    do {
      return try S3Answers.page(
        answer.body, start: start, dropping: bucket.prefix.utf8.count, after: after)
    } catch {
      throw failure(.badAnswer, call, "found \(error.reason)")
    }
  }

  package func delete(_ key: ObjectKey) async throws(StorageError) {
    do throws(StorageError) {
      _ = try await answer(to: S3Call(.delete, "DELETE", key: key.text))
    } catch {
      guard error.kind == .notFound else { throw error }
    }
  }

  // MARK: Requests

  /// Makes the request of a call, and a second one after a refusal that the first one explains.
  func answer(
    to call: S3Call, take: (@Sendable (Data) throws -> Void)? = nil
  ) async throws(StorageError) -> WebRequests.Answer {
    let first = credentials.withLock { $0 }
    let answer = try await send(call, first, take)
    if (200...299).contains(answer.status) { return answer }
    let refusal = S3Answers.Refusal(status: answer.status, body: answer.body)
    let next: S3Credentials?
    if correctClock(refusal, answer, call) {
      next = first
    } else {
      next = renewed(first, refusal, call)
    }
    guard let next else { throw failure(refusal, answer, call) }
    let second = try await send(call, next, take)
    if (200...299).contains(second.status) { return second }
    throw failure(S3Answers.Refusal(status: second.status, body: second.body), second, call)
  }

  private func send(
    _ call: S3Call, _ credentials: S3Credentials, _ take: (@Sendable (Data) throws -> Void)?
  ) async throws(StorageError) -> WebRequests.Answer {
    let signer = RequestSigner(credentials: credentials, region: bucket.region)
    let signed = RequestSigner.Request(
      method: call.method, path: bucket.path(of: call.key), query: call.query,
      fields: [(name: "host", value: bucket.host)] + call.fields, bodyHash: call.bodyHash)
    let query = signed.encodedQuery
    let address =
      "\(bucket.scheme)://\(bucket.host)\(signed.path)" + (query.isEmpty ? "" : "?\(query)")
    guard let url = URL(string: address) else {
      throw failure(.badRequest, call, "the address cannot be used")
    }
    var request = WebRequests.Request(call.method, url, byteLimit: call.byteLimit)
    let time = options.now() + correction.withLock { $0 }
    request.fields = signer.signedFields(of: signed, at: time).filter { $0.name != "host" }
    request.body = call.body
    request.range = call.range
    do throws(WebRequests.Failure) {
      return try await web.answer(to: request, take: take)
    } catch {
      throw failure(error, call)
    }
  }

  /// Takes over the service's time if it refused a request for its time; false for other refusals.
  private func correctClock(
    _ refusal: S3Answers.Refusal, _ answer: WebRequests.Answer, _ call: S3Call
  ) -> Bool {
    // A head has no code. Services allow a difference of 15 minutes.
    let isSkewed =
      refusal.code == "RequestTimeTooSkewed"
      || (call.operation == .head && [400, 403].contains(refusal.status))
    guard isSkewed, let date = answer.date else { return false }
    let found = date - options.now()
    return correction.withLock { correction in
      guard abs(found - correction) > 300 else { return false }
      correction = found
      return true
    }
  }

  /// Reads the credentials again if the service reports that they have expired; `nil` if they are
  /// unchanged.
  private func renewed(
    _ used: S3Credentials, _ refusal: S3Answers.Refusal, _ call: S3Call
  ) -> S3Credentials? {
    let isExpired =
      ["ExpiredToken", "InvalidToken", "InvalidAccessKeyId"].contains(refusal.code ?? "")
      || (call.operation == .head && [400, 403].contains(refusal.status))
    guard isExpired, let found = try? settings.credentials(source), found != used else {
      return nil
    }
    credentials.withLock { $0 = found }
    return found
  }

  // MARK: Answers

  private func head(
    of answer: WebRequests.Answer, _ call: S3Call, received: Int? = nil
  ) throws(StorageError) -> ObjectHead {
    guard let tag = answer.fields["etag"], !tag.isEmpty else {
      throw failure(.badAnswer, call, "the answer has no ETag")
    }
    if call.range != nil, answer.status != 206 {
      throw failure(.badAnswer, call, "the service sent the whole object, expected a part")
    }
    guard let count = answer.head?.totalCount ?? (call.range == nil ? received : nil) else {
      throw failure(.badAnswer, call, "the answer does not state the size of the object")
    }
    return ObjectHead(byteCount: UInt64(max(count, 0)), tag: ObjectTag(tag))
  }

  func failure(
    _ kind: StorageError.Kind, _ call: S3Call, _ reason: String, advice: String? = nil,
    mayHaveHappened: Bool = false, code: String? = nil
  ) -> StorageError {
    StorageError(
      kind, call.operation, key: call.shownKey, place: place, reason: reason, advice: advice,
      mayHaveHappened: mayHaveHappened, serviceCode: code)
  }

  private func failure(_ failure: WebRequests.Failure, _ call: S3Call) -> StorageError {
    switch failure {
    case .notSent(let words):
      self.failure(
        .unavailable, call, words, advice: "check the address, and that the service runs")
    case .lost(let words): self.failure(.cut, call, words, mayHaveHappened: true)
    case .badAnswer(let words):
      self.failure(.badAnswer, call, "found \(words)", mayHaveHappened: true)
    case .tooLarge where call.operation.isWrite:
      self.failure(.badAnswer, call, "the answer is too large", mayHaveHappened: true)
    case .tooLarge:
      self.failure(.tooLarge, call, "the content has more than \(call.byteLimit) bytes")
    case .taker(let error):
      error as? StorageError ?? self.failure(.badRequest, call, "\(error)")
    case .cancelled:
      self.failure(.cancelled, call, "the task was cancelled", mayHaveHappened: true)
    }
  }

  func failure(
    _ refusal: S3Answers.Refusal, _ answer: WebRequests.Answer, _ call: S3Call
  ) -> StorageError {
    let kind = S3Answers.kind(
      of: refusal, call.operation, isConditional: call.isConditional,
      retryAfter: answer.retryAfter)
    // A failing gateway may have passed the request on.
    let mayHaveHappened = refusal.status >= 500 && refusal.status != 501 || kind == .cut
    let region = answer.fields["x-amz-bucket-region"]
    return failure(
      kind, call, refusal.words, advice: S3Answers.advice(refusal, call.operation, region: region),
      mayHaveHappened: mayHaveHappened, code: refusal.code)
  }
}
