import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const source = resolve(import.meta.dir, '../../../src/main.ts')

/** The responses of `wellhead mcp` to messages, by their id, after its input has ended. */
async function responsesTo(url: string, messages: readonly object[]) {
  const program = Bun.spawn(
    [process.execPath, source, 'mcp', '--url', url, '--key', 'any_key_of_the_server'],
    {
      stdin: new Blob(messages.map(message => `${JSON.stringify(message)}\n`)),
      stdout: 'pipe',
      stderr: 'inherit',
      env: { PATH: process.env.PATH ?? '' },
    },
  )
  const text = await new Response(program.stdout).text()
  const responses = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { id: number; result?: { content: { text: string }[] } })
  return { code: await program.exited, byId: new Map(responses.map(each => [each.id, each])) }
}

const read = (id: number, path: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'read', arguments: { path } },
})

test('requests that were sent before the input ended get their responses, and cancelled ones are not waited for', async () => {
  const begun = Promise.withResolvers<void>()
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      // No response is sent before the last request is here, when the input has ended.
      if (pathname === '/v1/prices/cancelled') return await new Promise<Response>(() => {})
      if (pathname === '/v1/prices/last') begun.resolve()
      await begun.promise
      return Response.json({ path: pathname })
    },
  })
  const { code, byId } = await responsesTo(server.url.origin, [
    read(1, '/v1/prices/first'),
    read(2, '/v1/prices/cancelled'),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } },
    read(3, '/v1/prices/last'),
  ])
  expect([...byId.keys()].sort()).toEqual([1, 3])
  expect(byId.get(1)?.result?.content[0]?.text).toContain('/v1/prices/first')
  expect(code).toBe(0)
}, 60_000)
