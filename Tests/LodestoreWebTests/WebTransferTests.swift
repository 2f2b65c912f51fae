import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import LodestoreWeb

/// Failures that a client can report but that a server on this system cannot cause.
@Suite struct `A transfer` {
  private func head(_ status: Int, _ fields: [String: String] = [:]) throws -> WebResponse {
    WebResponse(
      url: try url(), status: status, fields: fields.map { (name: $0.key, value: $0.value) })
  }

  private func url() throws -> URL { try #require(URL(string: "http://example.org/")) }

  private func end(_ transfer: WebTransfer) async -> Result<WebResponse, TransferFailure> {
    do {
      return .success(try await transfer.response {})
    } catch {
      return .failure(error as? TransferFailure ?? .cancelled)
    }
  }

  @Test func `a transfer that ends normally before its last byte has broken off`() async throws {
    let transfer = WebTransfer(try url(), byteLimit: 10, headByteLimit: 100)
    #expect(transfer.receive(try head(200, ["Content-Length": "9"])))
    #expect(transfer.receive(Data("[1,".utf8)))
    transfer.complete(nil)
    guard case .failure(.truncated(received: 3, expected: 9, cause: nil)) = await end(transfer)
    else {
      Issue.record("taken as whole")
      return
    }
  }

  @Test func `a transfer keeps its first end`() async throws {
    let transfer = WebTransfer(try url(), byteLimit: 10, headByteLimit: 100)
    #expect(transfer.receive(try head(200, [:])))
    transfer.end(with: .failure(.cancelled))
    #expect(!transfer.receive(Data("[]".utf8)))
    transfer.complete(nil)
    guard case .failure(.cancelled) = await end(transfer) else {
      Issue.record("another end")
      return
    }
  }

  @Test func `a transfer with a head beyond the limit is refused`() async throws {
    let transfer = WebTransfer(try url(), byteLimit: 10, headByteLimit: 100)
    let text = String(repeating: "a", count: 97)
    #expect(transfer.receive(try head(200, ["x-a": text])))
    #expect(!transfer.receive(try head(200, ["x-a": text + "a"])))
    guard case .failure(.headTooLarge) = await end(transfer) else {
      Issue.record("another end")
      return
    }
  }

  @Test func `a transfer without a head is a broken transport`() async throws {
    let transfer = WebTransfer(try url(), byteLimit: 10, headByteLimit: 100)
    transfer.complete(nil)
    guard case .failure(.transport(let cause)) = await end(transfer) else {
      Issue.record("another end")
      return
    }
    #expect(cause.code == .badServerResponse)
  }
}
