#if Web && !canImport(Darwin)
  internal import NIOCore
  internal import NIOHTTP1

  /// Handlers around the client's HTTP reader, one pair for each connection.
  ///
  /// The handlers refuse input of unbounded length, which the client would accept, and input that
  /// would crash the client.
  ///
  /// The handlers and their state belong to the connection's event loop.
  enum AnswerGuard {
    /// The field that tells a transfer the address range of the answer.
    ///
    /// A value sent by a server is replaced.
    static let rangeField = "lodestore-address-range"

    /// Adds the handlers to a connection.
    ///
    /// Call it on the connection's event loop before the first request.
    static func add(
      to channel: any Channel, headByteLimit: Int, range: AddressRange, isAdmitted: Bool
    ) throws {
      let pipeline = channel.pipeline.syncOperations
      let reader = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      let unread = UnreadBytes()
      try pipeline.addHandler(
        ByteCounter(unread, limit: headByteLimit), position: .before(reader))
      try pipeline.addHandler(
        AnswerCheck(unread, range, isAdmitted: isAdmitted), position: .after(reader))
    }

    /// The number of received bytes that have not been interpreted yet.
    fileprivate final class UnreadBytes {
      var count = 0
    }
  }

  /// Limits the bytes of an answer that are neither its complete head nor content.
  ///
  /// Examples are an endless head, heads of status 100 to 199, chunk extensions and trailers.
  private final class ByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let unread: AnswerGuard.UnreadBytes
    private let limit: Int
    private var isOver = false

    init(_ unread: AnswerGuard.UnreadBytes, limit: Int) {
      self.unread = unread
      self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOver else { return }
      unread.count += unwrapInboundIn(data).readableBytes
      context.fireChannelRead(data)
      guard unread.count > limit else { return }
      isOver = true
      context.fireErrorCaught(TransferFailure.headTooLarge)
      context.close(promise: nil)
    }
  }

  /// Refuses a status below 100, which would make the client end the process.
  ///
  /// Also refuses requests on a connection to a forbidden address.
  private final class AnswerCheck: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let unread: AnswerGuard.UnreadBytes
    private let range: AddressRange
    private let isAdmitted: Bool
    private var isOver = false

    init(_ unread: AnswerGuard.UnreadBytes, _ range: AddressRange, isAdmitted: Bool) {
      self.unread = unread
      self.range = range
      self.isAdmitted = isAdmitted
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOver else { return }
      var part = unwrapInboundIn(data)
      if case .head(var head) = part {
        guard head.status.code >= 100 else {
          isOver = true
          context.fireErrorCaught(TransferFailure.status(Int(head.status.code)))
          context.close(promise: nil)
          return
        }
        if head.status.code >= 200 { unread.count = 0 }
        head.headers.replaceOrAdd(name: AnswerGuard.rangeField, value: "\(range.rawValue)")
        part = .head(head)
      } else {
        unread.count = 0
      }
      context.fireChannelRead(wrapInboundOut(part))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard !isAdmitted else { return context.write(data, promise: promise) }
      let failure = TransferFailure.address(range)
      promise?.fail(failure)
      guard !isOver else { return }
      isOver = true
      // The error is reported after the client's current call, because the client does not expect
      // it within the call.
      context.eventLoop.assumeIsolated().execute {
        context.fireErrorCaught(failure)
        context.close(promise: nil)
      }
    }
  }

  extension PeerAddress {
    init(_ address: SocketAddress?) {
      switch address {
      case .v4(let address):
        self.init(
          bytes: withUnsafeBytes(of: address.address.sin_addr) { Array($0) },
          port: Int(UInt16(bigEndian: address.address.sin_port)))
      case .v6(let address):
        self.init(
          bytes: withUnsafeBytes(of: address.address.sin6_addr) { Array($0) },
          port: Int(UInt16(bigEndian: address.address.sin6_port)))
      default: self.init(bytes: [], port: 0)
      }
    }
  }
#endif
