-- For wrk: asks for the paths of a file, one after the other, and tells the latencies.
local paths = {}
for line in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = line end
local number = 0

request = function()
  number = number % #paths + 1
  return wrk.format("GET", paths[number])
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %.0f %.3f %.3f %.3f %d\n",
    summary.requests * 1e6 / summary.duration, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
