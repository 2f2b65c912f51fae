import LodestoreBytes
import Testing

@Suite struct ByteViewTests {
  private let bytes: [UInt8] = [7, 1, 2, 3, 4, 5, 6, 7, 8, 1]

  @Test func `a part of a view has its own positions, from 0`() {
    bytes._withBytes { view in
      let part = view[3...][..<4]
      #expect(part.count == 4 && part[0] == 3)
      #expect(part.firstIndex(of: 5) == 2 && part.firstIndex { $0 == 6 } == 3)
      #expect(part.indices == 0..<4 && part.dropFirst(2).startIndex == 0)
      #expect(Array(view[view.count...]).isEmpty)
    }
    bytes[2...]._withBytes { #expect($0[0] == 2 && $0.count == 8) }
  }

  @Test func `a view becomes an array, a text and a loop over its bytes`() {
    bytes._withBytes { view in
      #expect(Array(view) == bytes && Array(view[1..<4]) == [1, 2, 3])
      var copy: [UInt8] = [9]
      copy.append(contentsOf: view.suffix(2))
      copy += view.prefix(1)
      #expect(copy == [9, 8, 1, 7])
      var sum = 0
      for byte in view.dropLast(1) { sum += Int(byte) }
      #expect(sum == 43 && view.reversed().first == 1)
    }
    var text = "Alderaan"
    text.withUTF8 { #expect(String(decoding: ByteView($0)[..<5], as: UTF8.self) == "Alder") }
  }

  @Test func `numbers are read at any offset, in both orders of bytes`() {
    bytes._withBytes { view in
      #expect(view.uint16(at: 1) == 0x0201 && view.uint32(at: 1) == 0x0403_0201)
      #expect(view.uint64(at: 1) == 0x0807_0605_0403_0201)
      #expect(view.bigEndianUInt32(at: 1) == 0x0102_0304)
      #expect(view.bigEndianUInt64(at: 1) == 0x0102_0304_0506_0708)
    }
  }

  @Test func `views are equal by their bytes`() {
    bytes._withBytes { view in
      #expect(view.prefix(1).elementsEqual(view[7..<8]) && !view.elementsEqual(view.dropLast()))
      #expect(ByteView().elementsEqual(view[4..<4]) && ByteView().isEmpty)
      #expect(ByteView().firstIndex(of: 7) == nil && view[1..<7].firstIndex(of: 7) == nil)
    }
  }

  @Test func `bytes are changed through a view and its parts`() {
    var changed = bytes
    changed._withMutableBytes { view in
      view[1...].copyMemory(from: ByteView(view)[..<3])
      view[4] = 40
      view[5...].storeBytes(of: 0x0201, toByteOffset: 1, as: UInt16.self)
      view[8...].zero()
    }
    #expect(changed == [7, 7, 1, 2, 40, 5, 1, 2, 0, 0])
    let copy = ByteView.copy(of: changed)
    defer { copy.deallocate() }
    #expect(copy.elementsEqual(changed) && copy.baseAddress != nil)
  }
}
