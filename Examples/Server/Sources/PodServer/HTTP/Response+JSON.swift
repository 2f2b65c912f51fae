import Foundation
public import Hummingbird
import HTTPTypes
import NIOCore
import NIOFoundationCompat

extension Response {
  /// An encoder that sorts members by name, so that equal values have equal bytes.
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }()

  /// Makes a response with a value as JSON.
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
