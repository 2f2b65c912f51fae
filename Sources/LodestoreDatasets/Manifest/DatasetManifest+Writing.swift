internal import LodestoreJSON

extension DatasetManifest {
  /// The payload to sign.
  var payload: [UInt8] {
    var writer = JSONWriter(.pretty)
    writer.beginObject()
    writer.number("version", Self.version)
    writer.text("name", name)
    writer.number("generation", generation)
    writer.text("dataAsOf", ISO8601Text.text(dataAsOf) ?? "")
    writer.text("builtAt", ISO8601Text.text(builtAt) ?? "")
    writer.text("publishedAt", ISO8601Text.text(publishedAt) ?? "")
    writer.number("keySet", UInt64(keySet))
    writeFile(to: &writer)
    writeWhole(to: &writer)
    writer.beginArray("patches")
    for patch in patches { patch.write(to: &writer) }
    writer.endArray()
    writer.beginArray("mirrors")
    for mirror in mirrors { writer.string(mirror) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// Signs the manifest with one or more keys and returns the content of its file.
  package func signed(by keys: [SigningKey]) throws(DatasetError) -> [UInt8] {
    try SignedEnvelope(payload, of: .manifest, signedBy: keys).bytes
  }

  private func writeFile(to writer: inout JSONWriter) {
    writer.beginObject("file")
    writer.number("length", length)
    writer.text("verity", digest.description)
    writer.text("content", contentDigest)
    writer.text("schema", schemaFingerprint)
    writer.number("formatVersion", UInt64(formatVersion))
    writer.beginObject("records")
    for (entity, count) in records.sorted(by: { $0.key < $1.key }) {
      writer.number(entity, UInt64(count))
    }
    writer.endObject()
    writer.endObject()
  }

  private func writeWhole(to writer: inout JSONWriter) {
    writer.beginObject("whole")
    writer.text("name", whole.name)
    writer.number("length", whole.length)
    writer.text("sha256", whole.sha256.description)
    writer.beginObject("frames")
    writer.text("name", whole.frames.name)
    writer.number("length", whole.frames.length)
    writer.text("sha256", whole.frames.sha256.description)
    writer.endObject()
    writer.endObject()
  }
}

extension DatasetManifest.PatchFile {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.number("from", from)
    writer.text("fromVerity", fromDigest.description)
    writer.number("fromLength", fromLength)
    writer.text("name", name)
    writer.number("length", length)
    writer.text("sha256", sha256.description)
    writer.endObject()
  }
}

extension JSONWriter {
  mutating func text(_ key: String, _ value: String) {
    self.key(key)
    string(value)
  }

  mutating func number(_ key: String, _ value: UInt64) {
    self.key(key)
    unsigned(value)
  }

  mutating func beginObject(_ key: String) {
    self.key(key)
    beginObject()
  }

  mutating func beginArray(_ key: String) {
    self.key(key)
    beginArray()
  }
}
