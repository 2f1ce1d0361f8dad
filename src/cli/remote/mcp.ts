import { createMcpServer } from '../../topics/assistants/operations/server.ts'
import { createRemoteAsk, type RemoteServer } from './ask.ts'

/**
 * Speaks the Model Context Protocol on standard input and output until the input ends and every
 * request in it has its response.
 */
export async function serveMcp(server: Omit<RemoteServer, 'source'>): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
  const mcp = createMcpServer(createRemoteAsk({ ...server, source: 'mcp' }), 'Wellhead')
  const transport = new StdioServerTransport()
  const pending = new Set<unknown>()
  let hasEnded = false
  await new Promise<void>((resolve, reject) => {
    const settle = (id?: unknown) => {
      pending.delete(id)
      if (hasEnded && pending.size === 0) resolve()
    }
    const end = () => {
      hasEnded = true
      settle()
    }
    transport.onmessage = message => {
      if (!('method' in message)) return
      if ('id' in message) pending.add(message.id)
      // A cancelled request has no response.
      else if (message.method === 'notifications/cancelled') settle(message.params?.requestId)
    }
    const send = transport.send.bind(transport)
    transport.send = async message => {
      await send(message)
      if (!('method' in message)) settle(message.id)
    }
    mcp.onclose = resolve
    process.stdin.once('end', end)
    process.stdin.once('close', end)
    mcp.connect(transport).catch(reject)
  })
  await mcp.close()
}
