import { createMcpServer } from '../../topics/assistants/operations/server.ts'
import { createRemoteAsk, type RemoteServer } from './ask.ts'

/** Speaks the Model Context Protocol on standard input and output until the input ends. */
export async function serveMcp(server: Omit<RemoteServer, 'source'>): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
  const mcp = createMcpServer(createRemoteAsk({ ...server, source: 'mcp' }), 'Wellhead')
  const ended = new Promise<void>(resolve => {
    mcp.onclose = resolve
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  await mcp.connect(new StdioServerTransport())
  await ended
  await mcp.close()
}
