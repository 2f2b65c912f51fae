import Foundation
import Testing

/// A running nginx that serves a folder, until the object is released.
final class NginxServer {
  let url: URL
  private let process = Process()

  init?(serving folder: String, in scratch: ScratchFolder) throws {
    guard let program = OutsideProgram.path("nginx") else { return nil }
    let port = Int.random(in: 20_000..<60_000)
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(scratch.path)/nginx-\($0);" }.joined(separator: "\n")
    let configuration = """
      daemon off;
      master_process off;
      pid \(scratch.path)/nginx.pid;
      error_log \(scratch.path)/nginx.log;
      events {}
      http {
        access_log off;
        \(paths)
        server {
          listen 127.0.0.1:\(port);
          root \(folder);
          gzip on;
          gzip_types *;
        }
      }
      """
    let file = try scratch.write(configuration.utf8, to: "nginx.conf")
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-c", file, "-p", scratch.path]
    process.standardError = FileHandle.nullDevice
    try process.run()
    url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
  }

  deinit { stop() }

  func stop() {
    // The process begins with the signal mask of the thread that starts it, and threads of Dispatch
    // block all signals. A signal that can be blocked would therefore wait forever.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
