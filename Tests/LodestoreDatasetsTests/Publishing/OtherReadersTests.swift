#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  /// Published files are read by programs that share nothing with this project.
  struct OtherReadersTests {
    @Test func `zstd unpacks a whole generation and applies a patch`() throws {
      guard let zstd = OutsideProgram.path("zstd") else { return }
      var sample = try SamplePublisher()
      try sample.publish(1)
      try sample.publish(2)
      let manifest = try sample.manifest()
      let output = sample.folder.file("by-zstd")
      let whole = try OutsideProgram.run(
        zstd, ["-q", "-d", "-f", "\(sample.directory)/\(manifest.whole.path)", "-o", output])
      #expect(whole.status == 0, "\(whole.output)")
      #expect(try ScratchFolder.bytes(of: output) == sample.bytes(of: 2))
      let patch = try #require(manifest.patches.first)
      let patched = try OutsideProgram.run(
        zstd,
        [
          "-q", "-d", "-f", "--patch-from=\(sample.folder.file("1.lodestore"))",
          "\(sample.directory)/\(patch.path)", "-o", output,
        ])
      #expect(patched.status == 0, "\(patched.output)")
      #expect(try ScratchFolder.bytes(of: output) == sample.bytes(of: 2))
    }

    @Test func `A patch that zstd made is applied`() throws {
      guard let zstd = OutsideProgram.path("zstd") else { return }
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      let made = try OutsideProgram.run(
        zstd,
        [
          "-q", "-f", "--patch-from=\(folder.file("older"))", folder.file("newer"), "-o",
          folder.file("by-zstd"),
        ])
      #expect(made.status == 0, "\(made.output)")
      let bytes = try folder.read("by-zstd")
      let entry = DatasetManifest.PatchFile(
        from: 41, fromDigest: try SamplePublication.verity(sample.older),
        fromLength: UInt64(sample.older.count), name: "by-zstd", length: UInt64(bytes.count),
        sha256: try SamplePublication.sha256(bytes))
      try withNewFile(folder.file("patched")) { descriptor in
        try DatasetPatch.apply(
          folder.file("by-zstd"), to: folder.file("older"), into: descriptor, at: "patched",
          as: entry, of: sample.manifest)
      }
      #expect(try folder.read("patched") == sample.newer)
    }

    @Test func `The fsverity tool has the digest of the manifest`() throws {
      guard let fsverity = OutsideProgram.path("fsverity") else { return }
      var sample = try SamplePublisher()
      try sample.publish(1)
      let digest = try OutsideProgram.run(
        fsverity, ["digest", sample.folder.file("1.lodestore")])
      #expect(digest.output.contains("sha256:\(try sample.manifest().digest)"))
    }

    @Test func `The reader in Python verifies a folder, its chain of keys and a sealed file`()
      throws
    {
      guard let python = OutsideProgram.path("python3") else { return }
      var sample = try SamplePublisher()
      let trusted = try sample.publish(1).trustedKeys
      try sample.publish(2)
      let next = try SigningKey()
      try KeyRotation(sample.directory, signer: sample.key, newKey: next, otherKeys: []).run()
      let verify = { (arguments: [String]) in
        try OutsideProgram.run(
          python, ["-B", "-m", "lodestore.published", sample.directory] + arguments,
          environment: ["PYTHONPATH": "\(packageFolder)/tools/readers/python"])
      }
      let found = try verify([
        "--trust", trusted.description, "--file", sample.folder.file("2.lodestore"),
      ])
      // The status where Python has no package for Ed25519.
      if found.status == 69 { return print("skipped: \(found.output)") }
      #expect(found.status == 0, "\(found.output)")
      #expect(found.output.contains("\"generation\": 2"))
      #expect(found.output.contains("\"keys\": \"2:\(next)\""))
      let older = try verify(["--file", sample.folder.file("1.lodestore")])
      #expect(older.status == 65, "\(older.output)")
      let stranger = try verify(["--trust", "1:\(try SigningKey())"])
      #expect(stranger.status == 65, "\(stranger.output)")
    }

    @Test func `OpenSSL reads a signing key`() throws {
      guard let openssl = OutsideProgram.path("openssl") else { return }
      let folder = try ScratchFolder()
      let key = try SigningKey()
      let path = try folder.write(key.pem.utf8, to: "key.pem")
      let found = try OutsideProgram.run(
        openssl, ["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", folder.file("public")])
      #expect(found.status == 0, "\(found.output)")
      #expect(try Array(folder.read("public").suffix(32)) == key.publicKey.bytes)
    }
  }
#endif
