/**
 * A bare server: the key is looked up in a Map, and the bytes and headers of Wellhead's own answer
 * are sent.
 */
interface Settings {
  tokensPath: string
  body: string
  headers: Record<string, string>
}

const { tokensPath, body, headers } = JSON.parse(process.argv[2]!) as Settings
const { tokens } = (await Bun.file(tokensPath).json()) as { tokens: string[] }
const accounts = new Map(tokens.map((token, i) => [token, i]))

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch(request) {
    const token = request.headers.get('authorization')?.slice('Token '.length) ?? ''
    if (!accounts.has(token)) return new Response(null, { status: 401 })
    return new Response(body, { headers })
  },
})
console.log(server.port)
