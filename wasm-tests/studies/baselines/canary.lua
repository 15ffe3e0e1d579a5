-- A yardstick of the benchmark: as much of the filter's job as one would write in Lua. It finds the session cookie,
-- hashes it, compares the bucket with the weight and sets the routing header. What it leaves out: pins and everything
-- that needs a MAC, minted ids, overrides, metrics, more than one release, repeated cookie lines.

local COOKIE = "SESSIONID"
local WEIGHT = 2000 -- basis points
local SEED = 0x5bd1e995 -- stands for the hash of a salt
local STABLE, CANARY = "shop/shop/v1", "shop/shop/v2"

local band, bxor, rol, shl, shr, tobit = bit.band, bit.bxor, bit.rol, bit.lshift, bit.rshift, bit.tobit
local byte, find, sub = string.byte, string.find, string.sub

-- The low 32 bits of a product; a double holds only 53 bits, so one factor is taken in halves.
local function mul(a, b)
  return tobit(band(a, 0xffff) * b + shl(band(shr(a, 16) * b, 0xffff), 16))
end

local function scramble(k)
  return mul(rol(mul(k, 0xcc9e2d51), 15), 0x1b873593)
end

-- murmur3_x86_32, as a signed 32-bit number.
local function murmur3(key, seed)
  local h, n = tobit(seed), #key
  local whole = n - n % 4
  for i = 1, whole, 4 do
    local a, b, c, d = byte(key, i, i + 3)
    h = bxor(h, scramble(a + shl(b, 8) + shl(c, 16) + shl(d, 24)))
    h = tobit(mul(rol(h, 13), 5) + 0xe6546b64)
  end
  local k = 0
  for i = n, whole + 1, -1 do
    k = bxor(shl(k, 8), byte(key, i))
  end
  if n > whole then h = bxor(h, scramble(k)) end
  h = bxor(h, n)
  h = mul(bxor(h, shr(h, 16)), 0x85ebca6b)
  h = mul(bxor(h, shr(h, 13)), 0xc2b2ae35)
  return bxor(h, shr(h, 16))
end

local function session(cookies)
  local _, stop = find("; " .. cookies, "; " .. COOKIE .. "=", 1, true)
  if not stop then return nil end
  local from = stop - 1 -- the two characters that were put before the header are not in it
  return sub(cookies, from, (find(cookies, ";", from, true) or #cookies + 1) - 1)
end

function envoy_on_request(request)
  local headers = request:headers()
  local cookies = headers:get("cookie")
  local id = cookies and session(cookies)
  local version = STABLE
  if id and id ~= "" then
    local bucket = math.floor(murmur3(id, SEED) % 4294967296 * 10000 / 4294967296)
    if bucket < WEIGHT then version = CANARY end
  end
  headers:replace("x-canary-version", version)
end
