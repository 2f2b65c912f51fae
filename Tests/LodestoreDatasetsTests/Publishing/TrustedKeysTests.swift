#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  struct TrustedKeysTests {
    private let name = "pods"
    private let date = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private func set(_ number: Int, _ keys: [SigningKey], name: String = "pods") -> KeySet {
      KeySet(name: name, number: number, createdAt: date, keys: keys.map(\.publicKey))
    }

    @Test func `A program follows the chain from the set that it carries`() throws {
      let (first, offline, second) = (try SigningKey(), try SigningKey(), try SigningKey())
      let carried = TrustedKeys(set(1, [first, offline]))
      #expect(try TrustedKeys(carried.description) == carried)
      // The first key is lost, so the offline key signs the next set.
      let next = try set(2, [second, offline]).signed(by: [offline])
      let followed = try carried.followed(by: next, dataset: name)
      #expect(followed.number == 2)
      #expect(followed.keys == [second.publicKey, offline.publicKey])
      let last = try set(3, [second]).signed(by: [second])
      #expect(try followed.followed(by: last, dataset: name).number == 3)
    }

    @Test func `A key set is refused unless a key of the set before it has signed it`() throws {
      let (first, second) = (try SigningKey(), try SigningKey())
      let carried = TrustedKeys(set(1, [first]))
      let cases: [(DatasetError.Code, [UInt8])] = [
        (.untrusted, try set(2, [second]).signed(by: [second])),
        (.untrusted, try set(3, [second]).signed(by: [first])),
        (.untrusted, try set(1, [second]).signed(by: [first])),
        (.otherDataset, try set(2, [second], name: "films").signed(by: [first])),
        (.malformed, try set(2, []).signed(by: [first])),
        (.malformed, try set(2, [second, second]).signed(by: [first])),
        (.malformed, Array("[]".utf8)), (.malformed, []),
      ]
      for (code, bytes) in cases {
        let error = #expect(throws: DatasetError.self) {
          try carried.followed(by: bytes, dataset: name)
        }
        #expect(error?.code == code)
      }
    }

    @Test func `A folder's first set is signed by one of its own keys`() throws {
      let (first, other) = (try SigningKey(), try SigningKey())
      let folder = try ScratchFolder()
      try FileManager.default.createDirectory(
        atPath: folder.file("keys"), withIntermediateDirectories: false)
      #expect(try KeyChain(in: folder.path, name: name).newest == nil)
      try folder.write(set(1, [first]).signed(by: [first]), to: "keys/1.json")
      try folder.write(set(2, [other]).signed(by: [first]), to: "keys/2.json")
      // All keys are lost, so the third set does not follow from the second.
      try folder.write(set(3, [first]).signed(by: [first]), to: "keys/3.json")
      let chain = try KeyChain(in: folder.path, name: name)
      #expect(chain.links.map(\.isFollowing) == [false, true, false])
      #expect(chain.trusted == TrustedKeys(set(3, [first])))
      try folder.write(set(1, [first]).signed(by: [other]), to: "keys/1.json")
      let error = #expect(throws: DatasetError.self) { try KeyChain(in: folder.path, name: name) }
      #expect(error?.code == .untrusted)
    }

    @Test(arguments: [
      "", "1", "1:", "0:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=", ":", "1:abc",
      "99999:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
      "+1:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
      "1:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=,",
      "1:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=,PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
    ])
    func `Text that is no key set is refused with a message`(text: String) {
      let error = #expect(throws: DatasetError.self) { try TrustedKeys(text) }
      #expect(error?.code == .badKey)
      #expect(error?.message.contains("kvdump signing-keys show") == true)
    }
  }
#endif
