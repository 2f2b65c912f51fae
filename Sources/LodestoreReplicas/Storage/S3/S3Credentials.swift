/// The keys that sign requests to an S3-compatible service.
///
/// The description omits the secrets.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The name of the secret key.
  public let accessKey: String
  /// The key that signs requests.
  public let secretKey: String
  /// The token of temporary credentials.
  public let sessionToken: String?

  /// Creates credentials from keys, as the service shows them.
  public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }

  /// The access key, without the secrets.
  public var description: String { "S3Credentials(accessKey: \(accessKey), secretKey: ***)" }
  /// The access key, without the secrets.
  public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }

  /// Whether the values can stand in header fields.
  var isUsable: Bool {
    [accessKey, secretKey, sessionToken ?? "-"].allSatisfy { text in
      !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    } && !accessKey.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ",") }
  }
}

/// The place where credentials come from.
///
/// Credentials from the environment or a file are read again when the service reports that they
/// have expired.
public struct S3CredentialSource: Sendable {
  enum Form: Sendable, Hashable {
    case keys(S3Credentials)
    case environment
    case profile(String?)
    case automatic
  }

  let form: Form

  /// Uses the given keys.
  public static func keys(_ credentials: S3Credentials) -> Self { Self(form: .keys(credentials)) }

  /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
  public static let environment = Self(form: .environment)

  /// Reads a profile of the file `~/.aws/credentials`, or of the one in
  /// `AWS_SHARED_CREDENTIALS_FILE`.
  ///
  /// Without a name the profile is the one in `AWS_PROFILE`, or `default`. Profiles that name a
  /// program, a role or single sign-on are refused: only keys are read.
  public static func profile(_ name: String? = nil) -> Self { Self(form: .profile(name)) }

  /// Reads the environment, and the file if the environment has no keys.
  public static let automatic = Self(form: .automatic)
}
