import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

#if os(Linux)
  @Suite struct `The turn to write` {
    @Test func `info shows the process that has the turn to write, with its start`() async throws {
      let folder = try StoreFolder()
      try await folder.load(#"[{"k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
      let store = try DynamicStore(path: folder.store, options: StoreOptions())
      let (held, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let holder = Thread {
        try? store.write { _ in
          held.signal()
          done.wait()
        }
      }
      holder.start()
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          held.wait()
          continuation.resume()
        }
      }
      await #expect(processExitsWith: .success) {
        [path = folder.store as String, pid = getpid() as Int32] in
        let memory = MemoryConsole()
        let status = await KVDump.execute(["info", path, "--format", "json"], on: memory.console)
        let text = memory.data.text
        guard status == .success, text.contains(#""writer":"process \#(pid) ("#),
          text.contains(#""writerSince":"20"#)
        else { fatalError(text) }
      }
      done.signal()
      while !holder.isFinished { try await Task.sleep(for: .milliseconds(1)) }
      store.close()
      let free = await folder.run("info", "--format", "json")
      #expect(free.data.contains(#""writer":null,"writerSince":null"#), "\(free.data)")
      #expect(await folder.isSound())
    }
  }
#endif
