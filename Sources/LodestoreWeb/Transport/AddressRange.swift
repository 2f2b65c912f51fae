/// The reach of an internet address, from the narrowest range to the widest.
///
/// The ranges follow the registries of special-purpose addresses, RFC 6890. Addresses that are
/// neither public nor in a range below, such as multicast and reserved ones, count as private.
enum AddressRange: Int, Comparable, Sendable, CaseIterable {
  /// This machine.
  case loopback
  /// Link-local addresses: machines on the same network link. In clouds this includes the service
  /// that gives a machine its credentials.
  case linkLocal
  case privateUse
  case everywhere

  static func < (one: AddressRange, other: AddressRange) -> Bool { one.rawValue < other.rawValue }

  var words: String {
    switch self {
    case .loopback: "this machine"
    case .linkLocal: "the link-local range"
    case .privateUse: "a private range"
    case .everywhere: "the public range"
    }
  }
}

/// The remote end of a connection.
struct PeerAddress: Sendable, Hashable {
  /// The 4 bytes of an IPv4 or the 16 of an IPv6 address.
  ///
  /// Empty for other kinds, such as a Unix domain socket.
  var bytes: [UInt8]
  var port: Int

  var range: AddressRange {
    switch bytes.count {
    case 4: Self.range(ofIPv4: bytes[...])
    case 16: Self.range(ofIPv6: bytes)
    default: .loopback
    }
  }

  private static func range(ofIPv4 bytes: ArraySlice<UInt8>) -> AddressRange {
    let start = bytes.startIndex
    switch (bytes[start], bytes[start + 1]) {
    // Addresses for IETF protocol assignments, and for documentation.
    case (192, 0) where [0, 2].contains(bytes[start + 2]): return .privateUse
    case (198, 51) where bytes[start + 2] == 100: return .privateUse
    case (203, 0) where bytes[start + 2] == 113: return .privateUse
    case (0, _), (127, _): return .loopback
    case (169, 254): return .linkLocal
    case (10, _), (172, 16...31), (192, 168): return .privateUse
    // Addresses that the customers of a provider share, and addresses for benchmarks of networks.
    case (100, 64...127), (198, 18...19): return .privateUse
    // Multicast addresses, reserved addresses, and the broadcast address.
    case (224..., _): return .privateUse
    default: return .everywhere
    }
  }

  private static func range(ofIPv6 bytes: [UInt8]) -> AddressRange {
    let inner = bytes[12...]
    if bytes[..<10].allSatisfy({ $0 == 0 }) {
      let isMapped = bytes[10] == 0xFF && bytes[11] == 0xFF
      if isMapped { return range(ofIPv4: inner) }
      guard bytes[10] == 0, bytes[11] == 0 else { return .privateUse }
      // The addresses ::, ::1, and the deprecated form that embeds an IPv4 address after zeros.
      return inner.dropLast().allSatisfy { $0 == 0 } ? .loopback : range(ofIPv4: inner)
    }
    switch (bytes[0], bytes[1]) {
    // Addresses that embed an IPv4 address, 64:ff9b::/96 and 2002::/16, have the range of that
    // address.
    case (0x00, 0x64) where bytes[2] == 0xFF && bytes[3] == 0x9B:
      return bytes[4..<12].allSatisfy { $0 == 0 } ? range(ofIPv4: inner) : .privateUse
    case (0x20, 0x02): return range(ofIPv4: bytes[2..<6])
    case (0x20, 0x01) where bytes[2] == 0 && bytes[3] == 0: return .privateUse
    case (0xFE, 0x80...0xBF): return .linkLocal
    case (0x20...0x3F, _): return .everywhere
    // The rest, including fc00::/7, fec0::/10 and ff00::/8, is not public.
    default: return .privateUse
    }
  }
}
