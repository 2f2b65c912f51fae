internal import LodestoreEssentials

/// The addresses of the objects of a bucket.
struct S3Place: Sendable, Hashable {
  /// The way in which an address names the bucket.
  enum Addressing: Sendable, Hashable {
    /// `https://endpoint/bucket/key`.
    case path
    /// `https://bucket.endpoint/key`.
    case virtualHost
  }

  /// `https` or `http`.
  let scheme: String
  /// Host and port of the endpoint, without the bucket.
  let endpoint: String
  let bucket: String
  /// The beginning of all keys, with its slash; empty for none.
  let prefix: String
  let region: String
  let addressing: Addressing

  /// The place for messages, without secrets.
  var words: String { "\(base)/\(prefix)" }

  /// Host and port as requests name them.
  var host: String { addressing == .path ? endpoint : "\(bucket).\(endpoint)" }

  private var base: String {
    "\(scheme)://\(host)" + (addressing == .path ? "/\(bucket)" : "")
  }

  /// The percent-encoded path of a key, or of the bucket for an empty one.
  func path(of key: String) -> String {
    let start = addressing == .path ? "/\(bucket)" : ""
    let isBucket = key.isEmpty
    return isBucket && addressing == .path
      ? start : start + "/" + RequestText.encodedPath(isBucket ? "" : prefix + key)
  }

  /// An address for messages, without the user, the password and the query that it may have.
  static func shown(_ address: String) -> String {
    let end = address.firstIndex { $0 == "?" || $0 == "#" } ?? address.endIndex
    let text = address[..<end]
    guard let sign = text.lastIndex(of: "@") else { return String(text) }
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return text[..<min(start, sign)] + "..." + text[sign...]
  }

  struct Unusable: Error, Hashable {
    var reason: String
    var advice: String
  }

  /// - Parameters:
  ///   - address: `https://endpoint/bucket/prefix`, `https://bucket.s3.region.amazonaws.com/prefix`
  ///     or `s3://bucket/prefix`. The last one uses the endpoint of the settings, or Amazon's.
  ///   - region: `nil` for the one in the address, in the settings, or `us-east-1`.
  ///   - addressing: `nil` for the one that the address has.
  init(
    _ address: String, region: String?, addressing: Addressing?, settings: AWSSettings
  ) throws(Unusable) {
    let url = try Self.parts(of: address)
    var path = url.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    let known = region ?? settings.region
    if url.scheme == "s3" {
      let region = known ?? "us-east-1"
      let service = try settings.endpoint.map { (text) throws(Unusable) in try Self.parts(of: text)
      }
      guard service?.scheme != "s3" else {
        throw Unusable(
          reason: "the endpoint of the settings is no web address",
          advice: "set AWS_ENDPOINT_URL_S3 to an address with https")
      }
      self.scheme = service?.scheme ?? "https"
      endpoint = service?.host ?? "s3.\(region).amazonaws.com"
      bucket = url.host
      self.region = region
      self.addressing = addressing ?? (service == nil ? Self.amazonStyle(url.host) : .path)
    } else {
      scheme = url.scheme
      let amazon = Self.amazon(url.host)
      self.region = region ?? amazon?.region ?? known ?? "us-east-1"
      if let named = amazon?.bucket {
        bucket = named
        endpoint = String(url.host.dropFirst(named.count + 1))
        self.addressing = addressing ?? .virtualHost
      } else {
        guard !path.isEmpty else {
          throw Unusable(
            reason: "the address names no bucket", advice: "write https://endpoint/bucket/prefix")
        }
        bucket = path.removeFirst()
        endpoint = url.host
        self.addressing = addressing ?? (amazon == nil ? .path : Self.amazonStyle(bucket))
      }
    }
    prefix = path.isEmpty ? "" : path.joined(separator: "/") + "/"
    try check()
  }

  private func check() throws(Unusable) {
    let isBucket =
      (3...255).contains(bucket.utf8.count)
      && bucket.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      } && bucket != ".."
    guard isBucket else {
      throw Unusable(
        reason: "'\(bucket)' is no name of a bucket", advice: "write https://endpoint/bucket/prefix"
      )
    }
    guard prefix.isEmpty || ObjectKey(String(prefix.dropLast())) != nil else {
      throw Unusable(
        reason: "'\(prefix)' cannot begin keys",
        advice: "use a path without '.', '..' and control characters")
    }
    let isRegion =
      !region.isEmpty
      && region.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || $0 == 0x2D || $0 == 0x5F
      }
    guard isRegion else {
      throw Unusable(reason: "'\(region)' is no region", advice: "write one such as eu-central-1")
    }
  }

  // MARK: Addresses

  private static func parts(
    of address: String
  ) throws(Unusable) -> (scheme: String, host: String, path: String) {
    guard let url = URLComponents(string: address), let scheme = url.scheme?.lowercased(),
      ["http", "https", "s3"].contains(scheme), let host = url.host?.lowercased(), !host.isEmpty
    else {
      throw Unusable(
        reason: "it is no address of a bucket",
        advice: "write https://endpoint/bucket/prefix or s3://bucket/prefix")
    }
    guard url.user == nil, url.password == nil, url.query == nil, url.fragment == nil else {
      throw Unusable(
        reason: "it has a user, a query or a fragment",
        advice: "give the keys as credentials, and the address without them")
    }
    if let port = url.port, !(1...65_535).contains(port) {
      throw Unusable(reason: "it has the port \(port)", advice: "use a port from 1 to 65535")
    }
    // Signed requests name the host as the client sends it: without the scheme's own port.
    let isUsual = url.port == nil || url.port == (scheme == "https" ? 443 : 80)
    let port = isUsual ? "" : url.port.map { ":\($0)" } ?? ""
    return (scheme, host + port, url.path)
  }

  /// Amazon's hosts are `s3.region.amazonaws.com` and those with a bucket before them.
  private static func amazon(_ host: String) -> (bucket: String?, region: String?)? {
    let suffix = host.hasSuffix(".amazonaws.com.cn") ? ".amazonaws.com.cn" : ".amazonaws.com"
    guard host.hasSuffix(suffix) else { return nil }
    let parts = host.dropLast(suffix.count).split(separator: ".").map(String.init)
    guard let place = parts.lastIndex(where: { $0 == "s3" || $0.hasPrefix("s3-") }) else {
      return nil
    }
    let rest = parts[(place + 1)...].filter { $0 != "dualstack" }
    let bucket = parts[..<place].joined(separator: ".")
    return (bucket.isEmpty ? nil : bucket, rest.last)
  }

  /// Certificates cover one label before the endpoint, so buckets with dots stay in the path.
  private static func amazonStyle(_ bucket: String) -> Addressing {
    bucket.utf8.contains(UInt8(ascii: ".")) ? .path : .virtualHost
  }
}
