#if Datasets
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestoreDatasets

  /// The examples of Format.md, "Published datasets".
  struct PublishedExamplesTests {
    @Test func `The examples of published files hold`() throws {
      let lines = try examples()
      #expect(
        lines.map(\.words[0]) == ["signed-bytes", "public-key", "key-id", "signature", "table"])
      for (words, bytes) in lines {
        let made: [UInt8]
        switch words[0] {
        case "signed-bytes":
          made = SignedEnvelope.signedBytes(Array(words[2].utf8), type: words[1])
        case "public-key":
          made = try SigningKey(seed: hexadecimal(words[1])).publicKey.bytes
        case "key-id":
          made = try hexadecimal(try #require(PublicKey(bytes: hexadecimal(words[1]))).id)
        case "signature":
          let signed = SignedEnvelope.signedBytes(Array(words[3].utf8), type: words[2])
          // A signature may have random parts, so the document's signature is verified and not
          // compared.
          let key = try SigningKey(seed: hexadecimal(words[1])).publicKey
          #expect(try key.verifies(bytes, of: signed))
          continue
        default:
          let frames = stride(from: 2, to: words.count, by: 2)
          made =
            FrameTable(
              fileLength: try #require(UInt64(words[1])),
              digests: try frames.map { try hexadecimal(words[$0]) },
              compressedLengths: try frames.map { try #require(Int(words[$0 + 1])) }
            ).bytes
        }
        #expect(made == bytes, "\(words)")
      }
    }

    @Test func `The example of a key set holds`() throws {
      let keys = try KeySet(payload: try payload("key-set"))
      #expect(keys.name == "pods" && keys.number == 1 && keys.keys.count == 2)
    }

    @Test func `The example of a manifest names the example of a table`() throws {
      let manifest = try DatasetManifest(payload: try payload("manifest"))
      #expect(manifest.name == "pods" && manifest.generation == 7 && manifest.patches.count == 1)
      let table = try #require(try examples().last { $0.words[0] == "table" })
      #expect(manifest.length == UInt64(table.words[1]))
      #expect(manifest.whole.frames.length == UInt64(table.bytes.count))
      let sha256 = HexText.encoded(SHA256.hash(table.bytes))
      #expect(manifest.whole.frames.sha256.description == sha256)
    }

    /// The bytes of the JSON of an example.
    private func payload(_ kind: String) throws -> [UInt8] {
      let text = String(
        decoding: try ScratchFolder.bytes(of: "\(packageFolder)/Format.md"), as: UTF8.self)
      let block = try #require(text.split(separator: "```example \(kind)\n").dropFirst().first)
      return Array(try #require(block.split(separator: "```").first).utf8)
    }

    private func hexadecimal(_ text: String) throws -> [UInt8] {
      try #require(HexText.decoded(text), "\(text)")
    }

    /// The lines of the block: words, and the bytes after the sign of equality.
    private func examples() throws -> [(words: [String], bytes: [UInt8])] {
      let text = String(
        decoding: try ScratchFolder.bytes(of: "\(packageFolder)/Format.md"), as: UTF8.self)
      let block = try #require(text.split(separator: "```example published\n").dropFirst().first)
      let lines = try #require(block.split(separator: "```").first).split(separator: "\n")
      var found: [(words: [String], digits: String)] = []
      for line in lines {
        let sides = line.split(separator: " = ", maxSplits: 1)
        if sides.count == 2 {
          found.append((sides[0].split(separator: " ").map(String.init), String(sides[1])))
        } else {
          found[found.count - 1].digits += line
        }
      }
      return try found.map { ($0.words, try hexadecimal($0.digits.filter { $0 != " " })) }
    }
  }
#endif
