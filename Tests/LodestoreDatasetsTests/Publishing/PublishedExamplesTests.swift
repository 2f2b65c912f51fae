#if Datasets
  import Foundation
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
          // A signature may have random parts, so the one of the document is verified.
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
