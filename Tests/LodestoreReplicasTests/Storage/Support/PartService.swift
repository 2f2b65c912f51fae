import Foundation
import LoopbackWeb
import Synchronization

/// A service on loopback with one bucket, which takes uploads in parts and fails as a test says.
final class PartService: Sendable {
  /// The calls of an upload in parts.
  enum Call: Sendable, Hashable {
    case head, begin, part(Int), complete, abort, list, whole
  }

  /// An answer in the place of the service's.
  struct Fault: Sendable {
    var answer: Answer
    /// Whether the service executes the call before the answer.
    var isDone = false
  }

  private struct State {
    var object: [UInt8]?
    var version = 0
    var uploads: [String: [Int: [UInt8]]] = [:]
    var calls: [Call] = []
  }

  private let state = Mutex(State())
  /// Takes a call and the number of calls that are equal to it.
  private let fault: @Sendable (_ call: Call, _ count: Int) -> Fault?

  init(_ fault: @escaping @Sendable (Call, Int) -> Fault? = { _, _ in nil }) {
    self.fault = fault
  }

  var object: [UInt8]? { state.withLock { $0.object } }
  var calls: [Call] { state.withLock { $0.calls } }
  var openUploads: Int { state.withLock { $0.uploads.count } }

  static func error(_ code: String) -> [UInt8] { Array("<Error><Code>\(code)</Code></Error>".utf8) }

  func answer(to request: LoopbackServer.Request) -> Answer {
    let call = Self.call(request)
    let count = state.withLock { state in
      state.calls.append(call)
      return state.calls.count { $0 == call }
    }
    let fault = fault(call, count)
    if let fault, !fault.isDone { return fault.answer }
    let answer = execute(call, request)
    return fault?.answer ?? answer
  }

  private static func call(_ request: LoopbackServer.Request) -> Call {
    let number = request.value(of: "partNumber").flatMap { Int($0) }
    let hasID = request.value(of: "uploadId") != nil
    return switch request.method {
    case "HEAD": .head
    case "GET": .list
    case "DELETE": .abort
    case "POST": hasID ? .complete : .begin
    default: number.map { .part($0) } ?? .whole
    }
  }

  private func execute(_ call: Call, _ request: LoopbackServer.Request) -> Answer {
    let id = request.value(of: "uploadId") ?? ""
    let unknown = Answer(404, [], body: Self.error("NoSuchUpload"))
    return state.withLock { state in
      let tag = "ETag: \"v\(state.version)\""
      switch call {
      case .head:
        guard let object = state.object else { return Answer(404, []) }
        let head = "HTTP/1.1 200 OK\r\n\(tag)\r\nContent-Length: \(object.count)\r\n\r\n"
        var answer = Answer(200, [])
        answer.steps = [.bytes(Array(head.utf8))]
        return answer
      case .begin:
        let id = "id+\(state.calls.count)"
        state.uploads[id.replacingOccurrences(of: "+", with: "%2B")] = [:]
        return Answer(
          200, [],
          body: Array(
            ("<InitiateMultipartUploadResult><UploadId>\(id)</UploadId>"
              + "</InitiateMultipartUploadResult>").utf8))
      case .part(let number):
        guard state.uploads[id] != nil else { return unknown }
        state.uploads[id]?[number] = request.body
        return Answer(200, ["ETag: \"p\(number)\""])
      case .complete:
        guard let parts = state.uploads.removeValue(forKey: id) else { return unknown }
        state.object = parts.sorted { $0.key < $1.key }.flatMap(\.value)
        state.version += 1
        return Answer(
          200, [],
          body: Array(
            ("<CompleteMultipartUploadResult><ETag>&quot;v\(state.version)&quot;</ETag>"
              + "</CompleteMultipartUploadResult>").utf8))
      case .abort:
        return state.uploads.removeValue(forKey: id) == nil ? unknown : Answer(204, [])
      case .list:
        let uploads = state.uploads.keys.map {
          "<Upload><Key>place/a</Key><UploadId>\($0.replacingOccurrences(of: "%2B", with: "+"))"
            + "</UploadId><Initiated>2026-11-29T01:00:00.000Z</Initiated></Upload>"
        }
        return Answer(
          200, ["Date: Sun, 29 Nov 2026 01:33:37 GMT"],
          body: Array(
            ("<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>"
              + uploads.joined() + "</ListMultipartUploadsResult>").utf8))
      case .whole:
        state.object = request.body
        state.version += 1
        return Answer(200, ["ETag: \"v\(state.version)\""])
      }
    }
  }
}
