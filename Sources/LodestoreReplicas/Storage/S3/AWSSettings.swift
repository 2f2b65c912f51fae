internal import LodestoreEssentials
internal import LodestoreSystem

/// The settings that AWS's own programs read: environment variables and the files in `~/.aws`.
struct AWSSettings: Sendable {
  /// The largest file that is read.
  private static let fileByteLimit = 1 << 20

  var environment: [String: String] = ProcessInfo.processInfo.environment
  /// Returns the text of a file; `nil` if the file is absent or cannot be read.
  var file: @Sendable (_ path: String) -> String? = { AWSSettings.text(ofFile: $0) }

  /// The reason why there are no credentials, with the next step.
  struct Missing: Error, Hashable {
    var reason: String
    var advice: String
  }

  // MARK: Credentials

  func credentials(_ source: S3CredentialSource) throws(Missing) -> S3Credentials {
    let found: S3Credentials
    switch source.form {
    case .keys(let keys): found = keys
    case .environment:
      guard let keys = try environmentKeys() else {
        throw Missing(
          reason: "the environment has no AWS_ACCESS_KEY_ID",
          advice: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
      }
      found = keys
    case .profile(let name): found = try profileKeys(name)
    case .automatic:
      if let keys = try environmentKeys() {
        found = keys
      } else {
        do throws(Missing) {
          found = try profileKeys(nil)
        } catch {
          throw Missing(
            reason: "the environment has no AWS_ACCESS_KEY_ID, and \(error.reason)",
            advice: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \(error.advice)")
        }
      }
    }
    guard found.isUsable else {
      throw Missing(
        reason: "the keys are empty or have characters that no key has",
        advice: "copy the keys again, without spaces and line ends")
    }
    return found
  }

  private func environmentKeys() throws(Missing) -> S3Credentials? {
    guard let access = value("AWS_ACCESS_KEY_ID") else { return nil }
    guard let secret = value("AWS_SECRET_ACCESS_KEY") else {
      throw Missing(
        reason: "the environment has AWS_ACCESS_KEY_ID and no AWS_SECRET_ACCESS_KEY",
        advice: "set both")
    }
    return S3Credentials(
      accessKey: access, secretKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
  }

  private func profileKeys(_ name: String?) throws(Missing) -> S3Credentials {
    let name = name ?? profileName
    guard let path = filePath("AWS_SHARED_CREDENTIALS_FILE", "credentials") else {
      throw Missing(reason: "the environment has no HOME", advice: "set HOME, or give the keys")
    }
    // Keys may also stand in the other file, whose sections have a prefix.
    let sections = Self.sections(of: file(path) ?? "")
    let other = configurationSection(name)
    guard let found = sections[name] ?? other else {
      throw Missing(
        reason: "'\(path)' has no profile '\(name)'",
        advice: "add the profile, set AWS_PROFILE, or give the keys")
    }
    let values = (other ?? [:]).merging(found) { $1 }
    guard let access = values["aws_access_key_id"], let secret = values["aws_secret_access_key"]
    else {
      throw Missing(
        reason: "the profile '\(name)' of '\(path)' has no aws_access_key_id with "
          + "aws_secret_access_key",
        advice: "programs, roles and single sign-on are not read: export temporary keys by "
          + "'aws configure export-credentials --format env'")
    }
    return S3Credentials(
      accessKey: access, secretKey: secret, sessionToken: values["aws_session_token"])
  }

  // MARK: Other settings

  var region: String? {
    value("AWS_REGION") ?? value("AWS_DEFAULT_REGION")
      ?? configurationSection(profileName)?["region"]
  }

  var endpoint: String? {
    value("AWS_ENDPOINT_URL_S3") ?? value("AWS_ENDPOINT_URL")
      ?? configurationSection(profileName)?["endpoint_url"]
  }

  private var profileName: String { value("AWS_PROFILE") ?? "default" }

  private func configurationSection(_ name: String) -> [String: String]? {
    guard let path = filePath("AWS_CONFIG_FILE", "config"), let text = file(path) else {
      return nil
    }
    let sections = Self.sections(of: text)
    return sections["profile \(name)"] ?? (name == "default" ? sections[name] : nil)
  }

  private func value(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func filePath(_ variable: String, _ name: String) -> String? {
    value(variable) ?? value("HOME").map { "\($0)/.aws/\(name)" }
  }

  // MARK: Files

  /// The sections of a file, each with its names in lower case and their values.
  ///
  /// Indented lines belong to the setting before them and are ignored, as are comments.
  static func sections(of text: String) -> [String: [String: String]] {
    var sections: [String: [String: String]] = [:]
    var current: String?
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, first != " ", first != "\t", first != "#", first != ";" else {
        continue
      }
      if first == "[" {
        let name = line.dropFirst().prefix { $0 != "]" }
        current = name.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        if let current, sections[current] == nil { sections[current] = [:] }
      } else if let current, let sign = line.firstIndex(of: "=") {
        let name = trimmed(line[..<sign]).lowercased()
        sections[current]?[name] = trimmed(line[line.index(after: sign)...])
      }
    }
    return sections
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }

  private static func text(ofFile path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let status = stat(of: file), status.isRegularFile, status.st_size <= fileByteLimit
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
