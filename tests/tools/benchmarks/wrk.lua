-- Sends the requests of a file (a length, a line feed, the request; again) in their order, from the start at its end.
-- The last line of the output is the result as JSON.
local requests, position = {}, 0

function init(arguments)
   local file = assert(io.open(arguments[1], "rb"))
   local length = file:read("*n")
   while length do
      file:read(1)
      requests[#requests + 1] = file:read(length)
      length = file:read("*n")
   end
   file:close()
end

function request()
   position = position % #requests + 1
   return requests[position]
end

function done(summary, latency)
   local errors = summary.errors
   local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
   local seconds = summary.duration / 1e6
   print(string.format(
      '\n{"requests": %d, "errors": %d, "per_second": %f, "p50": %f, "p99": %f, "seconds": %f}',
      summary.requests, failed, summary.requests / seconds,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, seconds))
end
