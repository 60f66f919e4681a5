-- Exact sliding windows over sorted sets: members are calls, scores their moments in microseconds by this server's clock.
-- KEYS: the sets that a call counts in. ARGV: a unique word, the cost, then for each set and each rate its limit and its length in microseconds.
-- Answers the microseconds to wait (0: the call was counted), then for each set and rate the calls in its window and when the oldest of them leaves.

local word, cost = ARGV[1], tonumber(ARGV[2])
local numbers = (#ARGV - 2) / #KEYS
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Numbers of this size lose digits when Lua turns them into text by itself.
local function text(number)
  return string.format('%.0f', number)
end

-- Calls work(key, limit, length) for each window.
local function each(work)
  for position, key in ipairs(KEYS) do
    local first = 3 + (position - 1) * numbers
    for index = first, first + numbers - 1, 2 do
      work(key, tonumber(ARGV[index]), tonumber(ARGV[index + 1]))
    end
  end
end

local longest = 0
each(function(_, _, length) longest = math.max(longest, length) end)

for _, key in ipairs(KEYS) do
  -- Calls from the future, left by another server's clock, count from now: none is forgiven.
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf')) do
    redis.call('ZADD', key, text(now), member)
  end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - longest))
end

local wait = 0
each(function(key, limit, length)
  local start = '(' .. text(now - length)
  local excess = redis.call('ZCOUNT', key, start, '+inf') + cost - limit
  if excess > 0 then
    local leaving = redis.call('ZRANGEBYSCORE', key, start, '+inf', 'WITHSCORES', 'LIMIT', excess - 1, 1)
    wait = math.max(wait, leaving[2] and (leaving[2] + length - now) or length)
  end
end)

if wait == 0 then
  for _, key in ipairs(KEYS) do
    for call = 1, cost do
      redis.call('ZADD', key, text(now), word .. ':' .. call)
    end
    redis.call('PEXPIRE', key, text(longest / 1000 + 1000))
  end
end

local answer = { wait }
each(function(key, _, length)
  local start = '(' .. text(now - length)
  local oldest = redis.call('ZRANGEBYSCORE', key, start, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  answer[#answer + 1] = redis.call('ZCOUNT', key, start, '+inf')
  answer[#answer + 1] = oldest[2] and (oldest[2] + length - now) or 0
end)
return answer
