internal import Foundation
internal import LodestoreSystem

extension AddressRange {
  /// Returns the range of an address by the text of its host.
  ///
  /// A numeric address has the range that ``AddressRange`` gives its bytes. `localhost` is this
  /// machine. Names without a dot, or with an ending for local networks, are private. Every other
  /// name counts as public, wherever it leads.
  static func ofText(
    _ url: URL, _ classify: (PeerAddress) -> AddressRange = { $0.range }
  ) -> AddressRange {
    let host = plainHost(url)
    if host.isEmpty { return .everywhere }
    if let range = narrowest(host, url.port, AI_NUMERICHOST, classify) { return range }
    let labels = host.split(separator: ".")
    let last = labels.last.map(String.init) ?? ""
    if last == "localhost" { return .loopback }
    let isLocal =
      labels.count == 1 || ["local", "internal", "lan"].contains(last)
      || host.hasSuffix(".home.arpa")
    return isLocal ? .privateUse : .everywhere
  }

  /// The narrowest range of the addresses that the system finds for the host of an address; `nil`
  /// if it finds none.
  ///
  /// The call waits for the system's resolver.
  static func ofResolved(
    _ url: URL, _ classify: (PeerAddress) -> AddressRange = { $0.range }
  ) -> AddressRange? {
    narrowest(plainHost(url), url.port, 0, classify)
  }

  /// The host in lower case, without the brackets and the zone of IPv6 and without a trailing dot.
  private static func plainHost(_ url: URL) -> String {
    let host = (url.host() ?? "").lowercased().trimmingCharacters(in: ["[", "]"])
    let bare = host.prefix { $0 != "%" }
    return String(bare.hasSuffix(".") ? bare.dropLast() : bare)
  }

  private static func narrowest(
    _ host: String, _ port: Int?, _ flags: Int32, _ classify: (PeerAddress) -> AddressRange
  ) -> AddressRange? {
    var hints = addrinfo()
    hints.ai_flags = flags
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return nil }
    defer { freeaddrinfo(first) }
    var found: AddressRange?
    var next = first
    while let entry = next {
      if let bytes = bytes(of: entry.pointee) {
        let range = classify(PeerAddress(bytes: bytes, port: port ?? 0))
        found = min(found ?? range, range)
      }
      next = entry.pointee.ai_next
    }
    return found
  }

  private static func bytes(of entry: addrinfo) -> [UInt8]? {
    guard let address = entry.ai_addr else { return nil }
    let raw = UnsafeRawPointer(address)
    switch entry.ai_family {
    case AF_INET:
      let address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
      return withUnsafeBytes(of: address) { Array($0) }
    case AF_INET6:
      let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      return withUnsafeBytes(of: address) { Array($0) }
    default: return nil
    }
  }
}
