import Foundation
public import Hummingbird
import HTTPTypes
import NIOCore
import NIOFoundationCompat

extension Response {
  /// Members in the order of their names, so that equal values are equal bytes.
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }()

  /// An answer with a value as JSON.
  public static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) throws -> Response {
    let body = try encoder.encodeAsByteBuffer(value, allocator: ByteBufferAllocator())
    var headers = headers
    headers[.contentType] = "application/json"
    headers[.contentLength] = "\(body.readableBytes)"
    return Response(status: status, headers: headers, body: .init(byteBuffer: body))
  }
}
