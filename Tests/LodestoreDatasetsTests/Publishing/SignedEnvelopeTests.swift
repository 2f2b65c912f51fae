#if Datasets
  import Testing

  @testable import LodestoreDatasets

  struct SignedEnvelopeTests {
    @Test func `The signed bytes are those of the specification of DSSE`() {
      let bytes = SignedEnvelope.signedBytes(
        Array("hello world".utf8), type: "http://example.com/HelloWorld")
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == "DSSEv1 29 http://example.com/HelloWorld 11 hello world")
    }

    @Test func `Ed25519 signs as RFC 8032 specifies`() throws {
      // The seed and the signature are from RFC 8032, section 7.1, test 2.
      let seed = try #require(
        HexText.decoded("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
      let key = try SigningKey(seed: seed)
      #expect(
        HexText.encoded(key.publicKey.bytes)
          == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
      let signature = try #require(
        HexText.decoded(
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"))
      #expect(try key.publicKey.verifies(signature, of: [0x72]))
      #expect(try !key.publicKey.verifies(signature, of: [0x73]))
      // CryptoKit's signatures have random parts, so a new signature is verified and not compared.
      #expect(try key.publicKey.verifies(try key.signature(of: [0x72]), of: [0x72]))
    }

    @Test func `A payload of one type is not accepted as another type`() throws {
      let key = try SigningKey()
      let bytes = try SignedEnvelope(Array("{}".utf8), of: .keySet, signedBy: [key]).bytes
      let error = #expect(throws: DatasetError.self) {
        try SignedEnvelope(reading: bytes, as: .manifest)
      }
      #expect(error?.code == .malformed)
    }

    @Test func `One valid signature is enough among any number of others`() throws {
      let (trusted, other) = (try SigningKey(), try SigningKey())
      let payload = Array("{\"a\": 1}".utf8)
      let bytes = try SignedEnvelope(payload, of: .manifest, signedBy: [other, trusted]).bytes
      let envelope = try SignedEnvelope(reading: bytes, as: .manifest)
      #expect(try envelope.payload(verifiedBy: [trusted.publicKey], "it") == payload)
      let error = #expect(throws: DatasetError.self) {
        try envelope.payload(verifiedBy: [try SigningKey().publicKey], "it")
      }
      #expect(error?.code == .untrusted)
    }

    @Test func `A private key from OpenSSL is read, and written again unchanged`() throws {
      let pem = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7
        -----END PRIVATE KEY-----

        """
      let key = try SigningKey(pem: pem, name: "key.pem")
      #expect(key.pem == pem)
      #expect(key.description == "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")
      for damaged in [
        "", pem.replacing("MC4C", with: "MC5C"), pem.replacing("BEGIN PRIVATE", with: "BEGIN EC"),
        pem.replacing("u1PuKb7", with: "u1PuK"),
      ] {
        let error = #expect(throws: DatasetError.self) {
          try SigningKey(pem: damaged, name: "key.pem")
        }
        #expect(error?.code == .badKey)
      }
    }

    @Test(arguments: [
      "", "A", "AA", "AA=", "A===", "AB==", "AAB=", "AA==AA==", "A A=", "AA=A", "====",
    ])
    func `Base64 has one text for each sequence of bytes`(text: String) {
      guard let bytes = Base64Text.decoded(text) else { return }
      #expect(Base64Text.encoded(bytes) == text)
    }

    @Test func `Base64 text is read back as the encoded bytes`() {
      var numbers = SeededNumbers(5)
      for count in 0..<70 {
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
        #expect(Base64Text.decoded(Base64Text.encoded(bytes)) == bytes)
        #expect(HexText.decoded(HexText.encoded(bytes)) == bytes)
      }
      #expect(Base64Text.encoded(Array("foobar!".utf8)) == "Zm9vYmFyIQ==")
      #expect(Base64Text.decoded("-_-_") == Base64Text.decoded("+/+/"))
    }
  }
#endif
