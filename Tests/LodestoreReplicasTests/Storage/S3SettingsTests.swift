import Foundation
import Testing

@testable import LodestoreReplicas

/// Credentials and addresses of S3-compatible services.
@Suite struct S3SettingsTests {
  private func settings(
    _ environment: [String: String], _ files: [String: String] = [:]
  ) -> AWSSettings {
    AWSSettings(environment: environment) { files[$0] }
  }

  private static let credentialsFile = """
    # keys
    [default]
    aws_access_key_id = AKIADEFAULT
    aws_secret_access_key=secret=with/sign
    [ profile ]
    [work]
    AWS_ACCESS_KEY_ID = AKIAWORK
    aws_secret_access_key = worksecret
    aws_session_token = token
    s3 =
      addressing_style = path
    [program]
    credential_process = /bin/program
    """

  @Test func `keys come from the environment`() throws {
    let environment = [
      "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t",
    ]
    let found = try settings(environment).credentials(.environment)
    #expect(found == S3Credentials(accessKey: "AKIA", secretKey: "s", sessionToken: "t"))
    #expect(throws: AWSSettings.Missing.self) { try settings([:]).credentials(.environment) }
    #expect(throws: AWSSettings.Missing.self) {
      try settings(["AWS_ACCESS_KEY_ID": "AKIA"]).credentials(.automatic)
    }
    let none = #expect(throws: AWSSettings.Missing.self) {
      try settings(["HOME": "/h"]).credentials(.automatic)
    }
    #expect(none?.advice.hasPrefix("set AWS_ACCESS_KEY_ID") == true)
  }

  @Test func `keys come from a profile`() throws {
    let files = [
      "/h/.aws/credentials": Self.credentialsFile,
      "/other": "[work]\naws_access_key_id=O\naws_secret_access_key=P\n",
    ]
    let home = ["HOME": "/h"]
    let first = try settings(home, files).credentials(.profile())
    #expect(first == S3Credentials(accessKey: "AKIADEFAULT", secretKey: "secret=with/sign"))
    let work = S3Credentials(accessKey: "AKIAWORK", secretKey: "worksecret", sessionToken: "token")
    #expect(try settings(home, files).credentials(.profile("work")) == work)
    let named = home.merging(["AWS_PROFILE": "work"]) { $1 }
    #expect(try settings(named, files).credentials(.automatic) == work)
    let moved = named.merging(["AWS_SHARED_CREDENTIALS_FILE": "/other"]) { $1 }
    #expect(try settings(moved, files).credentials(.automatic).accessKey == "O")
    for name in ["none", "program"] {
      let error = #expect(throws: AWSSettings.Missing.self) {
        try settings(home, files).credentials(.profile(name))
      }
      #expect(error?.reason.contains("'\(name)'") == true)
    }
  }

  @Test func `region and endpoint come from the environment and the configuration`() {
    let files = [
      "/h/.aws/config":
        "[default]\nregion = eu-west-1\n[profile work]\nregion=eu-central-1\nendpoint_url = https://s3.example.org\n"
    ]
    #expect(settings(["HOME": "/h"], files).region == "eu-west-1")
    let work = settings(["HOME": "/h", "AWS_PROFILE": "work"], files)
    #expect(work.region == "eu-central-1")
    #expect(work.endpoint == "https://s3.example.org")
    #expect(settings(["HOME": "/h", "AWS_REGION": "x-1"], files).region == "x-1")
  }

  static let badPairs: [(String, String)] = [
    ("A B", "s"), ("A", "s\n"), ("", "s"), ("A/B", "s"), ("A", ""),
  ]

  @Test(arguments: badPairs)
  func `keys that cannot stand in a header field are refused`(
    with access: String, and secret: String
  ) {
    let source = S3CredentialSource.keys(S3Credentials(accessKey: access, secretKey: secret))
    #expect(throws: AWSSettings.Missing.self) { try settings([:]).credentials(source) }
  }

  @Test func `descriptions of credentials have no secret`() {
    let credentials = S3Credentials(accessKey: "AKIA", secretKey: "hidden", sessionToken: "token")
    let source = S3CredentialSource.keys(credentials)
    let texts: [String] = ["\(credentials)", String(reflecting: credentials), "\(source)"]
    for text in texts {
      #expect(!text.contains("hidden"), "\(text)")
      #expect(!text.contains("token\""), "\(text)")
    }
  }

  // MARK: Addresses

  struct Case: Sendable {
    var address: String
    var host: String
    var path: String
    var region: String
  }

  static let cases: [Case] = [
    Case(
      address: "https://s3.eu-west-1.amazonaws.com/bucket/a/b",
      host: "bucket.s3.eu-west-1.amazonaws.com",
      path: "/a/b/k%20y", region: "eu-west-1"),
    Case(
      address: "https://bucket.s3.eu-west-1.amazonaws.com/a",
      host: "bucket.s3.eu-west-1.amazonaws.com",
      path: "/a/k%20y", region: "eu-west-1"),
    Case(
      address: "https://s3.eu-west-1.amazonaws.com/buc.ket", host: "s3.eu-west-1.amazonaws.com",
      path: "/buc.ket/k%20y", region: "eu-west-1"),
    Case(
      address: "http://127.0.0.1:9000/bucket/", host: "127.0.0.1:9000", path: "/bucket/k%20y",
      region: "us-east-1"),
    Case(
      address: "https://minio.example.org:443/bucket//a/", host: "minio.example.org",
      path: "/bucket/a/k%20y", region: "us-east-1"),
    Case(
      address: "s3://bucket/a", host: "bucket.s3.us-east-1.amazonaws.com", path: "/a/k%20y",
      region: "us-east-1"),
  ]

  @Test func `a refused address is shown without secrets`() {
    let address = "https://user:hidden@example.org/backups/pods?token=hidden"
    let error = #expect(throws: StorageError.self) { try S3Storage(address) }
    #expect(error?.message.contains("https://...@example.org/backups/pods'") == true)
    #expect(error?.message.contains("hidden") == false)
    #expect(S3Place.shown("pods@home") == "...@home")
    #expect(S3Place.shown("htp://host/pods") == "htp://host/pods")
  }

  @Test(arguments: cases)
  func `an address names host, bucket, prefix and region`(of given: Case) throws {
    let place = try S3Place(
      given.address, region: nil, addressing: nil, settings: settings([:]))
    #expect(place.host == given.host)
    #expect(place.path(of: "k y") == given.path)
    #expect(place.region == given.region)
  }

  @Test func `the bucket may stand in the host of any service`() throws {
    let place = try S3Place(
      "http://localhost:9000/bucket/a", region: "r", addressing: .virtualHost,
      settings: settings([:]))
    #expect(place.host == "bucket.localhost:9000")
    #expect(place.path(of: "k") == "/a/k")
    #expect(place.path(of: "") == "/")
  }

  @Test func `an address of a bucket alone uses the endpoint of the settings`() throws {
    let place = try S3Place(
      "s3://bucket/a", region: nil, addressing: nil,
      settings: settings(["AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "r-1"]))
    #expect(place.words == "http://127.0.0.1:1/bucket/a/")
    #expect(place.region == "r-1")
  }

  @Test(arguments: [
    "", "bucket", "ftp://host/bucket", "https://host", "https://host/", "https://u:p@host/bucket",
    "https://host/bucket?x=1", "https://host:99999/bucket", "https://host/bu%20cket",
    "https://host/bucket/../x", "https://host/ab", "https://host/bucket/a%0Ab",
  ])
  func `an address without a bucket is refused`(of address: String) {
    #expect(throws: S3Place.Unusable.self) {
      try S3Place(address, region: nil, addressing: nil, settings: settings([:]))
    }
  }

  static let badKeys: [String] = [
    "", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/.", "a\u{0}", "a\n", "\u{85}",
  ]

  @Test(arguments: badKeys)
  func `keys that are no paths are refused`(of text: String) {
    #expect(ObjectKey(text) == nil)
  }

  @Test func `keys have limits of length`() {
    #expect(ObjectKey(String(repeating: "a", count: 200)) != nil)
    #expect(ObjectKey(String(repeating: "a", count: 201)) == nil)
    let long = Array(repeating: String(repeating: "a", count: 100), count: 11).joined(
      separator: "/")
    #expect(ObjectKey(long) == nil)
    #expect(ObjectKey("...") != nil)
  }
}
