#if Web && !canImport(Darwin)
  internal import AsyncHTTPClient
  internal import Foundation
  internal import FoundationNetworking
  internal import LodestoreSystem
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOPosix
  internal import NIOSSL

  /// Runs one request and passes its results to the transfer.
  struct ClientTransfer: Sendable {
    let transfer: WebTransfer

    func run(_ request: HTTPClientRequest, _ client: HTTPClient, deadline: NIODeadline) async {
      do {
        let answer = try await client.execute(request, deadline: deadline)
        let fields = answer.headers.lazy.map { (name: $0.name, value: $0.value) }
        var head = WebResponse(
          url: transfer.url, status: Int(answer.status.code), fields: fields)
        head.range = answer.headers.first(name: AnswerGuard.rangeField).flatMap { Int($0) }
          .flatMap(AddressRange.init(rawValue:))
        guard transfer.receive(head), try await receive(answer.body, of: head) else { return }
        transfer.complete(nil)
      } catch let failure as TransferFailure {
        transfer.end(with: .failure(failure))
      } catch {
        transfer.complete(URLError(client: error))
      }
    }

    /// Receives the body; returns false if no more of it is wanted.
    private func receive(
      _ body: HTTPClientResponse.Body, of head: WebResponse
    ) async throws -> Bool {
      // The body of an answer that is not a page is only counted, and not decompressed. Answers
      // with the statuses 204 and 304 have no body, whatever their fields say.
      let coding = head.isPage ? head.fields["content-encoding"] : nil
      let inflater =
        try coding.map { try Inflater.coding($0, byteLimit: transfer.byteLimit) } ?? nil
      for try await bytes in body {
        let isWanted =
          if let inflater {
            try bytes.withUnsafeReadableBytes { bytes in
              try inflater.inflate(bytes) { transfer.receive($0) }
            }
          } else {
            bytes.withUnsafeReadableBytes { transfer.receive(Data($0)) }
          }
        guard isWanted else { return false }
        transfer.noteActivity()
      }
      try inflater?.finish()
      return true
    }
  }

  extension URLError {
    /// The error of async-http-client, as the `URLError` that `URLSession` would report for it.
    fileprivate init(client error: any Error) {
      let words = String(String(describing: error).prefix(200))
      self.init(Self.code(of: error), userInfo: [NSLocalizedDescriptionKey: words])
    }

    private static func code(of error: any Error) -> URLError.Code {
      switch error {
      case let error as NIOConnectionError:
        error.connectionErrors.isEmpty && (error.dnsAError != nil || error.dnsAAAAError != nil)
          ? .cannotFindHost : .cannotConnectToHost
      case let error as HTTPClientError: code(of: error)
      case is HTTPParserError, is NIOHTTPDecoderError: .badServerResponse
      case is NIOSSLExtraError: .serverCertificateUntrusted
      case let error as NIOSSLError:
        "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
          ? .serverCertificateUntrusted : .secureConnectionFailed
      case is DamagedBody: .cannotDecodeContentData
      case let error as IOError: code(ofSystem: error.errnoCode)
      case is ChannelError: .networkConnectionLost
      default: .unknown
      }
    }

    /// The code for an error of the system, which for an address of numbers also ends a connect.
    private static func code(ofSystem code: CInt) -> URLError.Code {
      switch code {
      case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: .cannotConnectToHost
      default: .networkConnectionLost
      }
    }

    private static func code(of error: HTTPClientError) -> URLError.Code {
      switch error {
      case .invalidURL, .emptyHost, .emptyScheme: .badURL
      case .connectTimeout, .deadlineExceeded, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
        .timedOut
      case .remoteConnectionClosed, .uncleanShutdown, .cancelled: .networkConnectionLost
      default: .badServerResponse
      }
    }
  }
#endif
