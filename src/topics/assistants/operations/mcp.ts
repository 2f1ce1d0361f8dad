import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isLoopbackName } from '../../../lib/text/loopback.ts'
import { type Ask, refusalOf } from './tool.ts'

export interface McpDeps extends Pick<Context, 'serviceName' | 'headerPrefix' | 'ownUrl'> {
  /** The origins of pages that may call the API. */
  corsOrigins: readonly string[]
  /** Answers a request that this instance makes on behalf of another. */
  dispatch(request: Request, onBehalf: Request): Promise<Response>
}

/**
 * Headers that identify the caller and their place; they are copied to the requests made for the
 * caller.
 */
const passedOn = ['authorization', 'x-forwarded-for', 'origin', 'referer']

/** Calls the API for the sender of a request: with their key, counted and refused as theirs. */
function askAs(request: Request, { headerPrefix, dispatch }: McpDeps): Ask {
  return async <T>(
    method: 'GET' | 'POST',
    path: string,
    { query = {}, body }: Parameters<Ask>[2] = {},
  ) => {
    const address = new URL(path, request.url)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(name, String(value))
    }
    const headers = new Headers({ accept: 'application/json', [`${headerPrefix}Source`]: 'mcp' })
    for (const name of passedOn) {
      const value = request.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    if (body !== undefined) headers.set('content-type', 'application/json')
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await dispatch(
      new Request(address.href, { method, headers, ...content }),
      request,
    )
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
    const value: unknown = isJson ? JSON.parse(text) : undefined
    if (!answer.ok || !isJson) throw refusalOf(answer.status, value)
    return value as T
  }
}

/**
 * The origins of pages that may send messages. On a machine's own address it is not enough that
 * pages of all origins may call the API: a page can give its name that address (DNS rebinding).
 */
function pagesFor(request: Request, { ownUrl, corsOrigins }: McpDeps): string[] {
  const own = new URL(ownUrl())
  const origin = request.headers.get('origin') ?? ''
  const isOnThisMachine = URL.canParse(origin) && isLoopbackName(new URL(origin).hostname)
  const isForAll = corsOrigins.includes('*') && !isLoopbackName(own.hostname)
  return [own.origin, ...corsOrigins, ...(isOnThisMachine || isForAll ? [origin] : [])]
}

const methodNotAllowed = () =>
  Response.json(
    {
      jsonrpc: '2.0',
      error: { code: -32_000, message: 'Method not allowed: send messages with POST.' },
      id: null,
    },
    { status: 405, headers: { allow: 'POST' } },
  )

/** The protocol's refusal of a message or a request that it cannot parse. */
const ProtocolError = (description: string) =>
  t.Object(
    {
      jsonrpc: t.Literal('2.0', { description: 'Always 2.0.' }),
      error: t.Object({
        code: t.number('Of JSON-RPC 2.0.', -32_000),
        message: t.string('What is wrong.'),
      }),
      id: t.Union([t.String(), t.Number(), t.Null()], { description: 'Of the message.' }),
    },
    { additionalProperties: true, description },
  )

/** The Model Context Protocol over HTTP: one message a request, no sessions. */
export function mcpOperations(deps: McpDeps) {
  return [
    operation('POST /mcp', {
      operationId: 'sendMcpMessage',
      summary: 'Send a Model Context Protocol message',
      description:
        "Returns the response to a JSON-RPC message of the Model Context Protocol: tools, resources and prompts for assistants. The server uses the streamable HTTP transport without sessions: one message per request, with a JSON response; `Accept` must name `application/json` and `text/event-stream`. Tools call this API with the key of the request, under that key's quota and limits. Nothing is changed without the argument `confirm`.",
      access: { meter: false, header: true, action: 'read', unaudited: true },
      body: t.Optional(
        t.Any({
          description: 'A JSON-RPC message of the Model Context Protocol.',
          examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
        }),
      ),
      answers: {
        200: t.Object(
          {
            jsonrpc: t.Literal('2.0', { description: 'Always 2.0.' }),
            id: t.Union([t.String(), t.Number()], { description: 'Of the message.' }),
          },
          { additionalProperties: true, description: 'The response to the message.' },
        ),
        202: t.Void({ description: 'The notification was accepted.' }),
        403: ProtocolError('The request comes from a web page of an origin that is not allowed.'),
        406: ProtocolError('`Accept` must name both media types.'),
        415: ProtocolError('The body is not JSON.'),
      },
      handle: async ({ request, body }) => {
        // The protocol's libraries are loaded at the first request, and not at every start.
        const [{ createMcpServer }, { WebStandardStreamableHTTPServerTransport }] =
          await Promise.all([
            import('./server.ts'),
            import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
          ])
        const server = createMcpServer(askAs(request, deps), deps.serviceName)
        const transport = new WebStandardStreamableHTTPServerTransport({
          enableJsonResponse: true,
          enableDnsRebindingProtection: true,
          allowedOrigins: pagesFor(request, deps),
        })
        await server.connect(transport)
        // The body has been read; the transport checks the headers only.
        const head = new Request(request.url, { method: 'POST', headers: request.headers })
        const answer = await transport.handleRequest(head, { parsedBody: body ?? null })
        await server.close()
        return answer
      },
    }),
    // Without sessions there is no stream to open, and none to end.
    ...(['GET', 'DELETE'] as const).map(method =>
      operation(`${method} /mcp`, {
        hidden: true,
        access: { open: 'It returns 405 to everybody.' },
        handle: methodNotAllowed,
      }),
    ),
  ]
}
