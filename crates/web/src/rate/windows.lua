-- Exact sliding windows over one sorted set: members are calls, scores their moments in microseconds by this server's clock.
-- KEYS[1]: the set. ARGV: a unique word, the cost, then for each rate its limit and its length in microseconds.
-- Answers the microseconds to wait (0: the call was counted), then for each rate the calls in its window and when the oldest of them leaves.

local key, word, cost = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Numbers of this size lose digits when Lua turns them into text by itself.
local function text(number)
  return string.format('%.0f', number)
end

local longest = 0
for index = 4, #ARGV, 2 do
  longest = math.max(longest, tonumber(ARGV[index]))
end

-- Calls from the future, left by another server's clock, count from now: none is forgiven.
for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf')) do
  redis.call('ZADD', key, text(now), member)
end
redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - longest))

local wait = 0
for index = 3, #ARGV, 2 do
  local limit, length = tonumber(ARGV[index]), tonumber(ARGV[index + 1])
  local start = '(' .. text(now - length)
  local excess = redis.call('ZCOUNT', key, start, '+inf') + cost - limit
  if excess > 0 then
    local leaving = redis.call('ZRANGEBYSCORE', key, start, '+inf', 'WITHSCORES', 'LIMIT', excess - 1, 1)
    wait = math.max(wait, leaving[2] and (leaving[2] + length - now) or length)
  end
end

if wait == 0 then
  for call = 1, cost do
    redis.call('ZADD', key, text(now), word .. ':' .. call)
  end
  redis.call('PEXPIRE', key, text(longest / 1000 + 1000))
end

local answer = { wait }
for index = 4, #ARGV, 2 do
  local length = tonumber(ARGV[index])
  local start = '(' .. text(now - length)
  local oldest = redis.call('ZRANGEBYSCORE', key, start, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  answer[#answer + 1] = redis.call('ZCOUNT', key, start, '+inf')
  answer[#answer + 1] = oldest[2] and (oldest[2] + length - now) or 0
end
return answer
