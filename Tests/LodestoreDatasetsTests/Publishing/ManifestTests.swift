#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  struct ManifestTests {
    /// Signs the payload of a sample after a change of its text.
    private func signed(_ sample: SamplePublication, _ change: (String) -> String) throws -> [UInt8]
    {
      let text = String(decoding: sample.manifest.payload, as: UTF8.self)
      let changed = change(text)
      try #require(changed != text)
      return try SignedEnvelope(Array(changed.utf8), of: .manifest, signedBy: [sample.key]).bytes
    }

    private func code(_ bytes: [UInt8], _ sample: SamplePublication) -> DatasetError.Code? {
      do {
        _ = try DatasetManifest(verifying: bytes, with: sample.keys, name: SamplePublication.name)
        return nil
      } catch {
        return error.code
      }
    }

    @Test func `A manifest that is read equals the signed one`() throws {
      let sample = try SamplePublication.shared()
      let read = try DatasetManifest(
        verifying: sample.signed, with: sample.keys, name: SamplePublication.name)
      #expect(read == sample.manifest)
      #expect(read.whole.path == "g/42-aa.lodestore.zst")
      #expect(read.whole.frames.path == "g/42-aa.verity")
      #expect(read.patches.map(\.path) == ["d/41-42-bb.zst"])
      let older = try SamplePublication.verity(sample.older)
      #expect(read.patch(from: 41, digest: older) == read.patches.first)
      #expect(read.patch(from: 40, digest: older) == nil)
      #expect(read.patch(from: 41, digest: read.digest) == nil)
    }

    @Test func `Members that a later publisher adds do not refuse a manifest`() throws {
      let sample = try SamplePublication.shared()
      let bytes = try signed(sample) {
        $0.replacing("\"mirrors\"", with: "\"colour\": {\"a\": [1, null]},\n  \"mirrors\"")
      }
      #expect(code(bytes, sample) == nil)
    }

    @Test func `Counts of records whose sum no number holds are refused`() throws {
      let sample = try SamplePublication.shared()
      let limit = PublishedNames.numberLimit
      #expect(
        code(try signed(sample) { $0.replacing("11028", with: "\(limit - 3)") }, sample) == nil)
      let bytes = try signed(sample) { $0.replacing("11028", with: "\(limit)") }
      #expect(code(bytes, sample) == .malformed)
    }

    @Test func `A later version is refused with a message`() throws {
      let sample = try SamplePublication.shared()
      let bytes = try signed(sample) { $0.replacing("\"version\": 1", with: "\"version\": 2") }
      let error = #expect(throws: DatasetError.self) {
        try DatasetManifest(verifying: bytes, with: sample.keys, name: SamplePublication.name)
      }
      #expect(error?.code == .newerFormat)
      #expect(error?.message.contains("version 2") == true)
      #expect(error?.message.contains("update the program") == true)
    }

    @Test(arguments: [
      ("42-aa.lodestore.zst", "../../42.zst"), ("42-aa.lodestore.zst", ".."),
      ("42-aa.lodestore.zst", "/etc/passwd"), ("42-aa.verity", "a/b"), ("42-aa.verity", ".hidden"),
      ("42-aa.verity", ""), ("41-42-bb.zst", "c:\\\\x"), ("41-42-bb.zst", "a\\u0000b"),
      ("41-42-bb.zst", "a%2fb"), ("41-42-bb.zst", "ä"), ("\"pods\"", "\"pods/..\""),
    ])
    func `Names cannot lead out of the folder`(name: String, other: String) throws {
      let sample = try SamplePublication.shared()
      #expect(code(try signed(sample) { $0.replacing(name, with: other) }, sample) == .malformed)
    }

    @Test(arguments: [
      ("\"generation\": 42", "0"), ("\"generation\": 42", "-1"), ("\"generation\": 42", "1.5"),
      ("\"generation\": 42", "42.0"), ("\"generation\": 42", "9007199254740993"),
      ("\"generation\": 42", "\"42\""), ("\"generation\": 42", "18446744073709551615"),
      ("\"generation\": 42", "41"), ("\"keySet\": 1", "0"), ("\"keySet\": 1", "99999999"),
      ("\"formatVersion\": 6", "0"), ("\"from\": 41", "42"), ("\"from\": 41", "0"),
      ("\"fromLength\": 1295904", "0"), ("\"Author\": 3", "-1"), ("\"Author\": 3", "null"),
      ("\"length\": 1300000", "1299999999999999"), ("\"length\": 1300000", "100"),
      ("\"content\": \"00ff\"", "\"0\""), ("\"content\": \"00ff\"", "\"\""),
      ("\"content\": \"00ff\"", "\"XY\""),
      ("\"builtAt\": \"2026-05-09T06:15:00.500Z\"", "\"soon\""),
    ])
    func `Every number and text has bounds`(member: String, value: String) throws {
      let sample = try SamplePublication.shared()
      let name = try #require(member.split(separator: ":").first)
      let bytes = try signed(sample) { $0.replacing(member, with: "\(name): \(value)") }
      #expect(code(bytes, sample) == .malformed)
    }

    @Test func `A manifest of another dataset, key or key set is refused`() throws {
      let sample = try SamplePublication.shared()
      let renamed = try signed(sample) { $0.replacing("\"pods\"", with: "\"films\"") }
      #expect(code(renamed, sample) == .otherDataset)
      let foreign = try sample.manifest.signed(by: [try SigningKey()])
      #expect(code(foreign, sample) == .untrusted)
      #expect(try DatasetManifest.claimedKeySet(in: foreign) == 1)
      let later = try TrustedKeys("2:\(sample.key.publicKey)")
      let error = #expect(throws: DatasetError.self) {
        try DatasetManifest(verifying: sample.signed, with: later, name: SamplePublication.name)
      }
      #expect(error?.message.contains("key set 2 has replaced") == true)
      let ahead = try signed(sample) { $0.replacing("\"keySet\": 1", with: "\"keySet\": 3") }
      let second = #expect(throws: DatasetError.self) {
        try DatasetManifest(verifying: ahead, with: sample.keys, name: SamplePublication.name)
      }
      #expect(second?.message.contains("fetch keys/2.json") == true)
    }
  }
#endif
