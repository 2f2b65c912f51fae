-- For wrk: makes podspecs without an end, and notes each one that was answered with 201.
local threads = 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local number, log = 0, nil

function init()
  log = io.open(os.getenv("ANSWERED") .. "." .. id, "w")
  wrk.headers["If-None-Match"] = "*"
end

request = function()
  number = number + 1
  local path = string.format("/pods/W%d-%d/1.0", id, number)
  return wrk.format("PUT", path, nil, '{"summary": "written under load", "license": "MIT"}')
end

response = function(status, headers)
  if status == 201 then
    log:write(headers["Location"], "\n")
    log:flush()
  end
end
